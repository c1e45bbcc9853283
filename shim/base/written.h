/* SPDX-License-Identifier: Apache-2.0 */
/*
 * written.h - lists the files that the program opened for writing, since they may be incomplete if
 * the run is ended early (DLPROF_STOP_AFTER).
 */
#pragma once

#include "base/config.h"

/* Adds a file that was opened for writing. Called only if config.stop_after is set. */
void written_add(const char *path);

/* Adds a note with those of the files that are regular and have a megabyte or more. */
void written_note(void);
