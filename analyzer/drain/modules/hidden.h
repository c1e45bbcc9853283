/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hidden.h - which decode libraries of the training are observed, and which cannot be: those linked
 * into a module that calls them directly, without an import that could be wrapped.
 *
 * The training itself would pay for a look at 100 MB of libraries; so the drain takes it, a part at
 * a time. A run of seconds may end before the last part.
 */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

/* A run begins: forgets what was found in the one before. */
void hidden_begin(void);

/* From the notes of a segment: the wrappers of this library have callers. */
int hidden_reached(struct writer *writer, const char *library);

/* May be called often; looks now and then at what the process has loaded since. */
int hidden_look(struct writer *writer, struct segment *segment, uint64_t now_ns);

/* Which libraries, as bits, the file holds a copy of that it does not export. */
unsigned int hidden_scan(int fd, const char *path);
