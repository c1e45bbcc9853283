/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hidden.h - finds which decode libraries of the training are observed and which cannot be: a copy
 * that is linked into a module is called directly, without an import slot that could be changed.
 *
 * Scanning 100 MB of libraries would slow the training down, so the drain does it, part by part. A
 * run of seconds may end before the last part.
 */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

/* Begins a run: forgets what was found in the run before. */
void hidden_begin(void);

/* Notes that a library's wrappers have callers, as a segment's notes say. Returns 0 or -errno. */
int hidden_reached(struct writer *writer, const char *library);

/* Scans what the process has loaded since the last scan, if that is due. Returns 0 or -errno. */
int hidden_look(struct writer *writer, struct segment *segment, uint64_t now_ns);

/* Returns bits of the decode libraries of which the file holds a copy that it does not export. */
unsigned int hidden_scan(int fd, const char *path);
