/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - words of ours in the host's files: the line at exit, and what DLPROF_LOG asks for.
 *
 * Neither can keep the host waiting, raise a signal in it or touch a file of its own. A regular
 * file is the exception to the first: a dead network server stops whoever writes to it.
 */
#ifndef LOG_H
#define LOG_H

#include <stddef.h>

/* From the constructor: which file is descriptor 2, before the program can put another there. */
void log_begin(void);

/* One line to where DLPROF_LOG points; nothing at all unless it is set. */
void log_line(const char *what, const char *detail);

/* Tells the database why DLPROF_LOG cannot be followed, if so, through segment_note(). */
void log_note(void);

/* To the stderr that the program began with, if descriptor 2 still is that and takes it at once. */
void log_stderr(const char *bytes, size_t size);

#endif
