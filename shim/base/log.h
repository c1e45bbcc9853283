/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - writes our own text into the host's files without waiting. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Remembers the file that is open as descriptor 2; called in the constructor. */
void log_begin(void);

/* Copies the log's path, which setproctitle() may overwrite. False: it is empty or too long. */
bool log_set(const char *path);

/* Returns true, and a reason, if DLPROF_LOG cannot be written. */
bool log_fails(struct text *why);

void log_line(const char *what, const char *detail);

/* Writes all or nothing to descriptor 2, if that is still the file with which the program began. */
void log_stderr(const char *bytes, size_t size);
