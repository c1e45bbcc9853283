/* SPDX-License-Identifier: Apache-2.0 */
#include "thief.h"

#include <stdlib.h>

#include "buffers.h"
#include "common.h"
#include "stamps.h"

static uint64_t ticks(void)
{
	return now_ns() / 10 * 21;
}

static void give_buffer(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*bytes = 1 << 20;
	*buffer = calloc(1, *bytes);
	*max_records = 0;
}

/* Does not free the buffer, which another client may have provided. */
static void take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			size_t valid_bytes)
{
}

bool thief_leaves(void)
{
	const long begin = knob("CUPTI_STEAL_AT", 0), length = knob("CUPTI_STEAL_FOR", 0);
	static long count;

	if (!begin || ++count < begin)
		return false;
	if (count == begin) {
		call_log("stolen");
		buffers_register(give_buffer, take_buffer);
		stamp_source(ticks);
	}
	if (!length || count != begin + length)
		return false;
	call_log("abandoned");
	return true;
}
