/* SPDX-License-Identifier: Apache-2.0 */
/*
 * written.h - lists the files that the program opened for writing: if the run is ended early, they
 * may be incomplete.
 */
#pragma once

#include "base/config.h"

/* Adds a regular file that was opened for writing, by any thread. Only with config.stop_after. */
void written_add(const char *path);

/* Notes the added files of a megabyte or more. */
void written_note(void);
