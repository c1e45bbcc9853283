/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hidden.h - finds decode libraries that are linked into other modules, where no call is observed.
 *
 * Scanning 100 MB of libraries would slow the training down, so the drain scans, bit by bit.
 */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

void hidden_begin(void);

/* Adds a library to the fact (META_DECODERS_PATCHED) that lists whose calls are observed. */
int hidden_reached(struct writer *writer, const char *library);

int hidden_look(struct writer *writer, struct segment *segment, uint64_t now_ns);

/* Returns which decode libraries (bits) the file contains without exporting their functions. */
unsigned int hidden_scan(int fd, const char *path);
