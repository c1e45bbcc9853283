/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/buffers.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/sys.h"

#define SOFT_MAX     256 /* largest number of buffers: 64 MB, but unused parts take no memory */
#define HARD_MAX     512 /* largest number for a CUPTI that crashes if it gets no buffer */
#define GROW         64
#define RECORD_BYTES 216 /* size of a kernel's record, to estimate losses */

enum state {
	STATE_FREE,
	STATE_OUT,
	STATE_DONE,
	STATE_READING,
	STATE_LOST, /* the buffer is not expected to come back */
};

struct buffer {
	_Atomic uint32_t state;
	_Atomic uint64_t requested_ns;
	_Atomic uint32_t valid_size;
	_Atomic uint64_t forced_ns;
	_Atomic uint32_t thread;
	_Atomic uint64_t overtaken_ns; /* when a later buffer of this thread was read; 0: not yet */
	_Atomic uint64_t reached_ns;
	_Atomic bool shared;
};

static struct {
	uint8_t *bytes;
	struct buffer buffers[HARD_MAX];
	_Atomic uint32_t count;
	_Atomic uint32_t hint;
	_Atomic uint64_t dropped;
	bool never_null;
	uint8_t *sink; /* given out if no buffer is left: all threads write it, nobody reads it */
} pool;

static bool grow(void)
{
	uint32_t count = atomic_load(&pool.count);

	if (count >= (pool.never_null ? HARD_MAX : SOFT_MAX) ||
	    sys_call3(SYS_mprotect, pool.bytes + count * BUFFER_BYTES, GROW * BUFFER_BYTES,
		      PROT_READ | PROT_WRITE) < 0)
		return false;
	/* Two threads may grow the pool at once. Both open the same pages; one sets the count. */
	atomic_compare_exchange_strong(&pool.count, &count, count + GROW);
	return true;
}

int buffers_init(bool never_null)
{
	void *bytes;

	if (pool.bytes)
		return 0;
	bytes = sys_mmap((HARD_MAX + 1) * BUFFER_BYTES, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (sys_mmap_failed(bytes))
		return (int)(long)bytes;
	pool.bytes = bytes;
	pool.sink = pool.bytes + HARD_MAX * BUFFER_BYTES;
	pool.never_null = never_null;
	if (never_null)
		sys_call3(SYS_mprotect, pool.sink, BUFFER_BYTES, PROT_READ | PROT_WRITE);
	return grow() ? 0 : -ENOMEM;
}

static bool move(struct buffer *buffer, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong(&buffer->state, &from, to);
}

static uint8_t *give(uint32_t index, uint64_t now_ns)
{
	struct buffer *given = &pool.buffers[index];

	given->thread = (uint32_t)sys_call0(SYS_gettid);
	given->overtaken_ns = 0;
	given->shared = false;
	given->requested_ns = now_ns;
	given->state = STATE_OUT;
	atomic_store_explicit(&pool.hint, index + 1, memory_order_relaxed);
	return pool.bytes + index * BUFFER_BYTES;
}

static uint8_t *find_free(void)
{
	uint32_t count = atomic_load(&pool.count), hint = atomic_load(&pool.hint);
	uint64_t now_ns = clock_now_ns();

	for (uint32_t i = 0; i < count; i++) {
		uint32_t index = (hint + i) % count;
		struct buffer *buffer = &pool.buffers[index];

		if (atomic_load_explicit(&buffer->state, memory_order_relaxed) != STATE_FREE)
			continue;
		/* Set the time before the state, so that nobody reads a time of earlier use. */
		if (move(buffer, STATE_FREE, STATE_READING))
			return give(index, now_ns);
	}
	return NULL;
}

static uint8_t *steal(void)
{
	for (uint32_t i = 0; i < pool.count; i++) {
		struct buffer *buffer = &pool.buffers[i];

		if (!move(buffer, STATE_DONE, STATE_READING))
			continue;
		atomic_fetch_add(&pool.dropped, buffer->valid_size / RECORD_BYTES + 1);
		return give(i, clock_now_ns());
	}
	return NULL;
}

uint8_t *buffers_request(void)
{
	uint8_t *buffer;

	do
		buffer = find_free();
	while (!buffer && grow());
	if (!buffer && pool.never_null)
		buffer = steal();
	if (buffer)
		return buffer;
	/* A CUPTI that gets no buffer drops records and counts them itself. */
	if (!pool.never_null)
		return NULL;
	atomic_fetch_add(&pool.dropped, BUFFER_BYTES / RECORD_BYTES);
	return pool.sink;
}

static struct buffer *buffer_at(const uint8_t *bytes)
{
	if (bytes < pool.bytes || bytes >= pool.sink)
		return NULL;
	return &pool.buffers[(size_t)(bytes - pool.bytes) / BUFFER_BYTES];
}

bool buffers_is_ours(const uint8_t *bytes)
{
	return bytes && bytes >= pool.bytes && bytes <= pool.sink;
}

void buffers_share(const uint8_t *bytes)
{
	struct buffer *buffer = buffer_at(bytes);

	if (buffer)
		buffer->shared = true;
}

static bool is_with_cupti(const struct buffer *buffer)
{
	const uint32_t state = buffer->state;

	return state == STATE_OUT || state == STATE_LOST;
}

void buffers_share_out(void)
{
	for (uint32_t i = 0; i < pool.count; i++)
		if (is_with_cupti(&pool.buffers[i]))
			pool.buffers[i].shared = true;
}

bool buffers_is_shared(const uint8_t *bytes)
{
	const struct buffer *buffer = buffer_at(bytes);

	return buffer && buffer->shared;
}

bool buffers_shared_out(void)
{
	for (uint32_t i = 0; i < pool.count; i++)
		if (pool.buffers[i].shared && is_with_cupti(&pool.buffers[i]))
			return true;
	return false;
}

void buffers_complete(uint8_t *bytes, size_t valid_size, uint64_t forced_ns)
{
	struct buffer *buffer = buffer_at(bytes);

	if (!buffer)
		return;
	if (valid_size > BUFFER_BYTES) {
		atomic_fetch_add(&pool.dropped, BUFFER_BYTES / RECORD_BYTES);
		valid_size = 0;
	}
	buffer->valid_size = (uint32_t)valid_size;
	buffer->forced_ns = forced_ns;
	if (!move(buffer, STATE_OUT, STATE_DONE))
		move(buffer, STATE_LOST, STATE_DONE);
}

uint8_t *buffers_take(size_t *ret_valid_size)
{
	uint32_t count = atomic_load(&pool.count), best = count;

	for (uint32_t i = 0; i < count; i++)
		if (pool.buffers[i].state == STATE_DONE &&
		    (best == count ||
		     pool.buffers[i].requested_ns < pool.buffers[best].requested_ns))
			best = i;
	if (best == count || !move(&pool.buffers[best], STATE_DONE, STATE_READING))
		return NULL;
	*ret_valid_size = pool.buffers[best].valid_size;
	return pool.bytes + best * BUFFER_BYTES;
}

uint64_t buffers_requested_ns(const uint8_t *bytes)
{
	return buffer_at(bytes)->requested_ns;
}

uint64_t buffers_forced_ns(const uint8_t *bytes)
{
	return buffer_at(bytes)->forced_ns;
}

uint32_t buffers_thread(const uint8_t *bytes)
{
	return buffer_at(bytes)->thread;
}

void buffers_free(uint8_t *bytes, uint64_t reached_ns)
{
	struct buffer *buffer = buffer_at(bytes);

	for (uint32_t i = 0; reached_ns && i < pool.count; i++) {
		struct buffer *older = &pool.buffers[i];

		if (older->state != STATE_OUT || older->thread != buffer->thread ||
		    older->requested_ns >= buffer->requested_ns || older->overtaken_ns)
			continue;
		older->reached_ns = reached_ns;
		older->overtaken_ns = clock_now_ns();
	}
	atomic_store(&buffer->state, STATE_FREE);
}

uint64_t buffers_complete_ns(uint64_t now_ns)
{
	uint32_t count = atomic_load(&pool.count);

	for (uint32_t i = 0; i < count; i++) {
		const struct buffer *buffer = &pool.buffers[i];
		uint32_t state = buffer->state;

		if ((state == STATE_OUT || state == STATE_DONE) && buffer->requested_ns < now_ns)
			now_ns = buffer->requested_ns;
	}
	return now_ns;
}

bool buffers_take_lost(uint64_t forced_ns, uint64_t *ret_begin_ns, uint64_t *ret_end_ns)
{
	const uint64_t now_ns = clock_now_ns();

	for (uint32_t i = 0; i < pool.count; i++) {
		struct buffer *buffer = &pool.buffers[i];
		const uint64_t overtaken_ns = buffer->overtaken_ns;
		const bool late = overtaken_ns && now_ns > overtaken_ns + BUFFER_LOST_NS;

		*ret_begin_ns = buffer->requested_ns;
		*ret_end_ns = overtaken_ns ? buffer->reached_ns : now_ns;
		if (buffer->state == STATE_OUT && (late || *ret_begin_ns < forced_ns) &&
		    move(buffer, STATE_OUT, STATE_LOST))
			return true;
	}
	return false;
}

uint32_t buffers_out(void)
{
	uint32_t out = 0;

	for (uint32_t i = 0; i < pool.count; i++)
		out += pool.buffers[i].state == STATE_OUT;
	return out;
}

void buffers_lose(size_t bytes)
{
	atomic_fetch_add(&pool.dropped, (bytes + RECORD_BYTES - 1) / RECORD_BYTES);
}

uint64_t buffers_dropped(void)
{
	return pool.dropped;
}
