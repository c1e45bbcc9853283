/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - the line of an instruction, from a code object's table. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct lines {
	uint32_t minor; /* of the CPython whose table it is: 3.`minor` */
	int32_t first;  /* the line of the function's `def` */
	const uint8_t *table;
	size_t size;
};

/* `offset` in bytes from the first instruction. 0: the instruction has no line, or is not there. */
int32_t lines_at(const struct lines *lines, int64_t offset);
