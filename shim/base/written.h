/* SPDX-License-Identifier: Apache-2.0 */
/*
 * written.h - watches the files of a program that DLPROF_STOP_AFTER will end: what it writes may be
 * left incomplete, and what an earlier run of `dlprof tune` wrote may change what this run does.
 */
#pragma once

#include "base/config.h"

/* True if DLPROF_STOP_AFTER will end this program. */
extern HIDDEN bool written_is_watched;

/* Reads whether this program will be ended, and which files are of earlier runs. */
void written_begin(void);

/* Looks at a file that was opened. It is called before recording begins, too. */
void written_opened(int fd, const char *path, int flags);

/* Writes a note that names the regular files of a megabyte or more that were written. */
void written_note(void);
