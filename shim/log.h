/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - one line to where DLPROF_LOG points; nothing at all unless it is set. */
#ifndef LOG_H
#define LOG_H

#include <stddef.h>

void log_line(const char *what, const char *detail);

/* Writes to the host's stderr if that takes it at once; a reader that is gone raises no SIGPIPE. */
void log_stderr(const char *bytes, size_t size);

#endif
