/* SPDX-License-Identifier: Apache-2.0 */
/*
 * written.h - files that the program opened for writing, for a run that is ended early: they may be
 * incomplete then.
 */
#pragma once

#include "base/config.h"

/* Notes a regular path that was opened for writing, by any thread. Only with config.stop_after. */
void written_add(const char *path);

/* Notes those files of a megabyte or more. */
void written_note(void);
