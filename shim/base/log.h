/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - writes our own words into the host's files: the line at exit, and what DLPROF_LOG asks
 * for.
 *
 * Neither can keep the host waiting, raise a signal in it or touch a file of its own. A regular
 * file is the exception to the first: a dead network server stops whoever writes to it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/*
 * From the constructor: notes which file descriptor 2 is, before the program can change it, by one
 * call that hardly a sandbox punishes.
 */
void log_begin(void);

/*
 * Takes DLPROF_LOG; false: it names no file. Copies it, as setproctitle overwrites the environment.
 */
bool log_set(const char *path);

/* Whether it names something that cannot be written to. */
bool log_fails(struct text *why);

/* Writes one line to DLPROF_LOG; nothing unless that is set. */
void log_line(const char *what, const char *detail);

/* Writes to the program's first stderr, if descriptor 2 still is that and takes it at once. */
void log_stderr(const char *bytes, size_t size);
