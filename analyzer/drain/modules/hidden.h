/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hidden.h - finds decode libraries that are linked into a module, so that no call is observed.
 *
 * Scanning 100 MB of libraries would slow the training down, so the drain does it, in small parts.
 */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

void hidden_begin(void);

/* Notes that a library's wrappers have callers, as a note in a segment says. */
int hidden_reached(struct writer *writer, const char *library);

int hidden_look(struct writer *writer, struct segment *segment, uint64_t now_ns);

/* Returns bits of the decode libraries that are copied into the file and not exported by it. */
unsigned int hidden_scan(int fd, const char *path);
