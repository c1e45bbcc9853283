/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/unfinished.h"

#define STREAMS 256

static struct {
	struct {
		uint64_t end_ns;
		/* when a flush cut off an operation of this stream that still runs; 0: none did */
		uint64_t forced_ns;
	} streams[STREAMS];
	/* when the gap began that unfinished_begins() has yet to return; 0: no such gap */
	uint64_t begin_ns;
	uint64_t forced_ns, end_ns;
	uint32_t running; /* number of streams whose forced_ns is not 0 */
} own;

static uint32_t place_of(uint32_t device, uint32_t stream)
{
	return (stream + 32 * device) % STREAMS;
}

void unfinished_pass(uint32_t device, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
	const uint32_t i = place_of(device, stream);

	if (end_ns > own.streams[i].end_ns)
		own.streams[i].end_ns = end_ns;
	/* Buffers come in any order, so this may be an operation from before the flush. */
	if (!own.streams[i].forced_ns || begin_ns < own.streams[i].forced_ns)
		return;
	own.streams[i].forced_ns = 0;
	own.running--;
	if (begin_ns > own.end_ns)
		own.end_ns = begin_ns;
}

uint64_t unfinished_since(uint32_t device, uint32_t stream, uint64_t begin_ns,
			  uint64_t requested_ns)
{
	const uint64_t end_ns = own.streams[place_of(device, stream)].end_ns;

	if (begin_ns)
		return begin_ns;
	/* A buffer's operations were launched after the buffer was requested. */
	return end_ns > requested_ns ? end_ns : requested_ns;
}

void unfinished_cut(uint32_t device, uint32_t stream, uint64_t since_ns, uint64_t forced_ns)
{
	const uint32_t i = place_of(device, stream);

	own.running += !own.streams[i].forced_ns;
	own.streams[i].forced_ns = forced_ns;
	if (!own.begin_ns || since_ns < own.begin_ns)
		own.begin_ns = since_ns;
	if (forced_ns > own.forced_ns)
		own.forced_ns = forced_ns;
	if (forced_ns > own.end_ns)
		own.end_ns = forced_ns;
}

bool unfinished_begins(uint64_t *ret_begin_ns)
{
	*ret_begin_ns = own.begin_ns;
	own.begin_ns = 0;
	return *ret_begin_ns;
}

bool unfinished_ended(uint64_t now_ns, uint64_t *ret_end_ns)
{
	if (own.running && now_ns < own.forced_ns + UNFINISHED_LONGEST_NS)
		return false;
	*ret_end_ns = own.running ? now_ns : own.end_ns;
	for (uint32_t i = 0; own.running && i < STREAMS; i++)
		own.streams[i].forced_ns = 0;
	own.running = 0;
	return true;
}
