/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hidden.h - decode libraries of the training that are observed, and those that cannot be: linked
 * into a module that calls them directly, with no import to put a wrapper into.
 *
 * The training itself would pay for a look at 100 MB of libraries; so the drain takes it.
 */
#ifndef HIDDEN_H
#define HIDDEN_H

#include "drain/segment.h"
#include "store/write.h"

/* A run begins: what was found in another one is none of it. */
void hidden_begin(void);

/* From the notes of a segment: the wrappers of this library have callers. */
int hidden_reached(struct writer *writer, const char *library);

/* Now and then: what a process has loaded since the last look. */
int hidden_look(struct writer *writer, struct segment *segment, uint64_t now_ns);

/* Does the file hold a copy of a library that it does not export? For each, `found` is called. */
int hidden_scan(const char *path, int (*found)(void *context, const char *library), void *context);

#endif
