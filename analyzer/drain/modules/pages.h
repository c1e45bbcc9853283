/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - reads words that are scattered over a file, through a small cache of pages. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/modules/maps.h"

/* Reads from the mapped file. If its path leads to another file by now, nothing is read. */
bool pages_read(const struct maps_line *of, uint64_t offset, void *bytes, size_t size);

/* Returns a number for the mapped file. */
uint64_t pages_id(const struct maps_line *of);

void pages_rest(void);
