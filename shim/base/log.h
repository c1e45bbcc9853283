/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - writes text of ours into the host's files: the line at exit, and what DLPROF_LOG asks
 * for.
 *
 * A write cannot keep the host waiting, raise a signal in it or touch a file of its own; except
 * that a regular file on a dead network server stops whoever writes to it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/*
 * Notes which file descriptor 2 is, for the constructor: before the program can change it, by one
 * call that hardly any sandbox punishes.
 */
void log_begin(void);

/* Copies DLPROF_LOG, as setproctitle overwrites the environment. False: it names no file. */
bool log_set(const char *path);

/* Whether DLPROF_LOG names something that cannot be written; `why` gets the reason. */
bool log_fails(struct text *why);

/* Writes one line to DLPROF_LOG; does nothing unless that is set. */
void log_line(const char *what, const char *detail);

/* Writes to the program's first stderr, if descriptor 2 still is that file and takes it at once. */
void log_stderr(const char *bytes, size_t size);
