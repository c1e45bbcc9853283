/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hidden.h - finds which decode libraries of the training are observed, and which cannot be: copies
 * that are linked into a module which calls them directly, without an import to wrap.
 *
 * The training would feel a look at 100 MB of libraries, so the drain takes it, part by part. A run
 * of seconds may end before the last part.
 */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

/* Begins a run: forgets what was found in the run before. */
void hidden_begin(void);

/* Notes that wrappers of this library have callers, as a segment's notes say. */
int hidden_reached(struct writer *writer, const char *library);

/* Looks now and then at what the process has loaded since; may be called often. */
int hidden_look(struct writer *writer, struct segment *segment, uint64_t now_ns);

/* Bits of the libraries that the file holds a copy of without exporting it. */
unsigned int hidden_scan(int fd, const char *path);
