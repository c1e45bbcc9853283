/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - finds the line of an instruction in a code object's table. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct lines {
	uint32_t minor;
	int32_t first;
	const uint8_t *table;
	size_t size;
};

/* Returns the line of the instruction at byte `offset`, or 0 if it has none. */
int32_t lines_at(const struct lines *lines, int64_t offset);
