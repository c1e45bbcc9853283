/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/unfinished.h"

#define STREAMS 256
#define WAITING 64

struct cut {
	uint32_t device, stream;
	uint64_t begin_ns, requested_ns, forced_ns;
};

static struct {
	struct {
		uint64_t reached_ns; /* when the last operation ended or, if it still runs, began */
		/* when a flush cut off an operation of this stream that still runs; 0: none did */
		uint64_t forced_ns;
	} streams[STREAMS];
	/* when the gap began that unfinished_begins() has yet to return; 0: no such gap */
	uint64_t begin_ns;
	uint64_t forced_ns, end_ns;
	uint32_t running; /* number of streams whose forced_ns is not 0 */
	struct cut waiting[WAITING]; /* operations whose begin is unknown */
	uint32_t waiting_count;
	uint64_t at_end_ns; /* the result of unfinished_at_end_ns() */
} own = {.at_end_ns = UINT64_MAX};

static uint32_t place_of(uint32_t device, uint32_t stream)
{
	return (stream + 32 * device) % STREAMS;
}

void unfinished_pass(uint32_t device, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
	const uint32_t i = place_of(device, stream);

	if (end_ns > own.streams[i].reached_ns)
		own.streams[i].reached_ns = end_ns;
	/* Buffers come in any order, so this may be an operation from before the flush. */
	if (!own.streams[i].forced_ns || begin_ns < own.streams[i].forced_ns)
		return;
	own.streams[i].forced_ns = 0;
	own.running--;
	if (begin_ns > own.end_ns)
		own.end_ns = begin_ns;
}

static uint64_t since(const struct cut *op)
{
	uint64_t *const reached_ns = &own.streams[place_of(op->device, op->stream)].reached_ns;

	/* Operations of a stream that have not begun will begin after those that have. */
	if (op->begin_ns > *reached_ns)
		*reached_ns = op->begin_ns;
	if (op->begin_ns)
		return op->begin_ns;
	/* A buffer's operations were launched after the buffer was requested. */
	return *reached_ns > op->requested_ns ? *reached_ns : op->requested_ns;
}

static void cut(const struct cut *op)
{
	const uint32_t i = place_of(op->device, op->stream);
	const uint64_t since_ns = since(op);

	if (!op->forced_ns) {
		if (since_ns < own.at_end_ns)
			own.at_end_ns = since_ns;
		return;
	}
	own.running += !own.streams[i].forced_ns;
	own.streams[i].forced_ns = op->forced_ns;
	if (!own.begin_ns || since_ns < own.begin_ns)
		own.begin_ns = since_ns;
	if (op->forced_ns > own.forced_ns)
		own.forced_ns = op->forced_ns;
	if (op->forced_ns > own.end_ns)
		own.end_ns = op->forced_ns;
}

void unfinished_note(uint32_t device, uint32_t stream, uint64_t begin_ns, uint64_t requested_ns,
		     uint64_t forced_ns)
{
	const struct cut op = {device, stream, begin_ns, requested_ns, forced_ns};

	if (!begin_ns && own.waiting_count < WAITING)
		own.waiting[own.waiting_count++] = op;
	else
		cut(&op);
}

void unfinished_settle(void)
{
	while (own.waiting_count)
		cut(&own.waiting[--own.waiting_count]);
}

uint64_t unfinished_at_end_ns(void)
{
	return own.at_end_ns;
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
