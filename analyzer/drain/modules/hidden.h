/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hidden.h - finds decode libraries that are linked into other modules, where no call is observed.
 *
 * The drain scans bit by bit: scanning 100 MB of libraries at once would slow the training down.
 */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

void hidden_begin(void);

/* Adds a library to the list of those whose calls are observed, the fact META_DECODERS_PATCHED. */
int hidden_reached(struct writer *writer, const char *library);

int hidden_look(struct writer *writer, struct segment *segment, uint64_t now_ns);

/* Returns as bits which decode libraries the file contains without exporting their functions. */
unsigned int hidden_scan(int fd, const char *path);
