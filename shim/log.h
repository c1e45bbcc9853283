/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - one line to where DLPROF_LOG points; nothing at all unless it is set. */
#ifndef LOG_H
#define LOG_H

void log_line(const char *what, const char *detail);

#endif
