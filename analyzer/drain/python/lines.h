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

/* Returns 0 if the instruction at byte `offset` has no line. */
int32_t lines_at(const struct lines *lines, int64_t offset);
