/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - writes our own text into files of the host: the line at exit to stderr, and DLPROF_LOG.
 *
 * A write never makes the host wait, raises no signal in it, and touches none of its own files. One
 * exception: writing to a regular file on a dead network server blocks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/*
 * Remembers which file descriptor 2 is. The constructor calls this before the program can change
 * that; it makes one system call, which hardly any sandbox punishes.
 */
void log_begin(void);

/* Copies DLPROF_LOG's value, as setproctitle() overwrites it. Returns false if it names no file. */
bool log_set(const char *path);

/* Returns true if DLPROF_LOG names a file that cannot be written; `why` gets the reason. */
bool log_fails(struct text *why);

/* Writes one line to DLPROF_LOG; does nothing unless that is set. */
void log_line(const char *what, const char *detail);

/*
 * Writes to stderr, if descriptor 2 is still the file of the program's start and takes all at once.
 */
void log_stderr(const char *bytes, size_t size);
