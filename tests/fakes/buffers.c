/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffers.c - the activity buffers of the fake CUPTI. A record is written when its buffer is
 * delivered, which is also when the real CUPTI converts times. A buffer with an operation that
 * still runs is kept until a forced flush; then the operation's only record has 0 as its end.
 */
#include "buffers.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"
#include "stamps.h"

enum { SUCCESS = 0, MAX_LIMIT_REACHED = 12, INVALID_KIND = 21 };
enum { IDLE_NS = 10000000 }; /* the worker looks for complete buffers this often */

struct buffer {
	uint8_t *data;
	size_t bytes, used;
	struct entry *entries;
	size_t count, room;
	uint32_t thread;
	bool full, forced, kept;
	struct buffer *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static struct buffer *buffers; /* the newest first */
static bool per_thread, zeroed_by_client, started;
static int flushing, delivering;
static uint32_t period_ms;
static uint64_t period_end_ns;
static size_t dropped, record_count;
static request_fn *request;
static complete_fn *complete;
static __thread int in_callback;

void buffers_lock(bool locked)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	if (knob("CUPTI_LOCK", 0))
		(locked ? pthread_mutex_lock : pthread_mutex_unlock)(&own);
}

bool buffers_in_callback(void)
{
	return in_callback > 0;
}

static uint64_t complete_ns(const struct buffer *buffer)
{
	uint64_t end = 0;

	for (size_t i = 0; i < buffer->count; i++)
		if (buffer->entries[i].op.end_ns > end)
			end = buffer->entries[i].op.end_ns;
	return end + (uint64_t)knob("CUPTI_DELAY_MS", 0) * NS_PER_MS;
}

static void shuffle(struct buffer *buffer)
{
	uint32_t seed = (uint32_t)buffer->count;

	for (size_t i = buffer->count; i > 1; i--) {
		size_t other = (seed = seed * 1664525 + 1013904223) / 65536 % i;
		struct entry swap = buffer->entries[i - 1];

		buffer->entries[i - 1] = buffer->entries[other];
		buffer->entries[other] = swap;
	}
}

/*
 * Faults of every N-th record: FAKE_CUPTI_ZERO_EVERY=N: no times. ..._BACKWARDS_EVERY: the end is
 * before the begin. ..._FUTURE_EVERY: times near UINT64_MAX. ..._ENDLESS_EVERY: two hours long.
 * ..._HUGE_EVERY: a copy of UINT64_MAX bytes. FAKE_CUPTI_BAD_FROM_MS, FAKE_CUPTI_BAD_TO_MS: only
 * operations that begin in this time after the first one have faults.
 */
struct faults {
	long zero_every, backwards_every, future_every, endless_every, huge_every;
	long from_ms, to_ms, offset_ns;
};

static struct faults read_faults(void)
{
	return (struct faults){
		.zero_every = knob("CUPTI_ZERO_EVERY", 0),
		.backwards_every = knob("CUPTI_BACKWARDS_EVERY", 0),
		.future_every = knob("CUPTI_FUTURE_EVERY", 0),
		.endless_every = knob("CUPTI_ENDLESS_EVERY", 0),
		.huge_every = knob("CUPTI_HUGE_EVERY", 0),
		.from_ms = knob("CUPTI_BAD_FROM_MS", 0),
		.to_ms = knob("CUPTI_BAD_TO_MS", LONG_MAX),
		.offset_ns = knob("CUPTI_OFFSET_NS", 0),
	};
}

static bool is_due(long every)
{
	return every && record_count % (size_t)every == 0;
}

static void spoil(const struct faults *faults, const struct op *op, uint64_t *begin, uint64_t *end)
{
	const uint64_t swap = *begin;
	static uint64_t first_ns;
	long ms;

	if (!first_ns || op->begin_ns < first_ns)
		first_ns = op->begin_ns;
	ms = (long)((op->begin_ns - first_ns) / NS_PER_MS);
	if (ms < faults->from_ms || ms >= faults->to_ms)
		return;
	record_count++;
	if (is_due(faults->zero_every))
		*begin = *end = 0;
	if (is_due(faults->backwards_every)) {
		*begin = *end;
		*end = swap;
	}
	if (is_due(faults->future_every)) {
		*begin = UINT64_MAX - 2;
		*end = UINT64_MAX - 1;
	}
	if (is_due(faults->endless_every))
		*end += 7200 * NS_PER_S;
}

/* FAKE_CUPTI_INVALID_EVERY=N: in every N-th buffer, the record in the middle has kind 0. */
static void lay_out(struct buffer *buffer)
{
	const struct faults faults = read_faults();
	const struct stamp_pair pair = stamp_pair_now();
	const long invalid_every = knob("CUPTI_INVALID_EVERY", 0);
	static long count;
	const bool is_spoilt = invalid_every && ++count % invalid_every == 0;
	uint8_t *at = buffer->data;

	if (knob("CUPTI_OUT_OF_ORDER", 0))
		shuffle(buffer);
	for (size_t i = 0; i < buffer->count; i++) {
		const struct entry *entry = &buffer->entries[i];
		uint64_t begin = stamp_of(&pair, entry->op.begin_ns);
		uint64_t end = stamp_of(&pair, entry->op.end_ns);

		/* FAKE_CUPTI_NO_BEGIN: an operation that still runs has no begin, either. */
		if (entry->op.end_ns > pair.ns)
			end = 0;
		if (entry->op.begin_ns > pair.ns || (!end && knob("CUPTI_NO_BEGIN", 0)))
			begin = 0;
		spoil(&faults, &entry->op, &begin, &end);
		if (begin && end) {
			begin += (uint64_t)faults.offset_ns;
			end += (uint64_t)faults.offset_ns;
		}
		record_write(at, entry, begin, end);
		if (is_due(faults.huge_every) && entry->kind == KIND_MEMCPY)
			memset(at + 8, 0xff, 8);
		if (is_spoilt && i == buffer->count / 2)
			memset(at, 0, sizeof(entry->kind));
		at += record_bytes(entry->kind);
	}
}

static void take_out(struct buffer *buffer)
{
	struct buffer **link = &buffers;

	while (*link != buffer)
		link = &(*link)->next;
	*link = buffer->next;
}

/* Delivers a buffer to the client. The caller holds `lock`, which is released meanwhile. */
static void deliver(struct buffer *buffer)
{
	complete_fn *callback = complete;

	take_out(buffer);
	delivering++;
	pthread_mutex_unlock(&lock);
	lay_out(buffer);
	in_callback++;
	/*
	 * FAKE_CUPTI_CUT=N: says that a buffer has N bytes less than it has. FAKE_CUPTI_OVER=1:
	 * says that it has more than it can hold. FAKE_CUPTI_AGAIN=1: first delivers a NULL buffer,
	 * then each buffer twice, the second time when it may have been read.
	 */
	if (knob("CUPTI_AGAIN", 0))
		callback(NULL, 0, NULL, 0, 0);
	memset(buffer->data + buffer->used - (size_t)knob("CUPTI_CUT", 0), 0xa5,
	       (size_t)knob("CUPTI_CUT", 0));
	callback(NULL, 0, buffer->data, buffer->bytes,
		 knob("CUPTI_OVER", 0) ? SIZE_MAX : buffer->used - (size_t)knob("CUPTI_CUT", 0));
	if (knob("CUPTI_AGAIN", 0)) {
		sleep_until(now_ns() + 30 * NS_PER_MS);
		callback(NULL, 0, buffer->data, buffer->bytes, buffer->used);
	}
	in_callback--;
	free(buffer->entries);
	free(buffer);
	pthread_mutex_lock(&lock);
	delivering--;
}

/* Returns the next buffer to deliver: the oldest or, with FAKE_CUPTI_OUT_OF_ORDER, the newest. */
static struct buffer *next_ready(void)
{
	const bool period = period_ms && now_ns() >= period_end_ns;
	const uint64_t now = now_ns();
	struct buffer *found = NULL;

	for (struct buffer *b = buffers; b; b = b->next) {
		if (b->kept || (!b->forced && !(b->full || (flushing && b->count))))
			continue;
		if (!b->forced && complete_ns(b) > now)
			continue;
		found = b;
		if (knob("CUPTI_OUT_OF_ORDER", 0))
			break;
	}
	if (period && !found)
		period_end_ns = now + period_ms * NS_PER_MS;
	return found;
}

static void deliver_all(void)
{
	struct buffer *buffer;

	while (complete && (buffer = next_ready()))
		deliver(buffer);
}

static void place_ended(bool all);

static void *work(void *unused)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		struct timespec until;

		place_ended(false);
		deliver_all();
		flushing = 0;
		if (!delivering)
			pthread_cond_broadcast(&done);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += IDLE_NS;
		until.tv_sec += until.tv_nsec / (long)NS_PER_S;
		until.tv_nsec %= (long)NS_PER_S;
		pthread_cond_timedwait(&wake, &lock, &until);
	}
	return NULL;
}

void buffers_register(request_fn *new_request, complete_fn *new_complete)
{
	pthread_t worker;

	pthread_mutex_lock(&lock);
	request = new_request;
	complete = new_complete;
	if (!started && !pthread_create(&worker, NULL, work, NULL)) {
		pthread_detach(worker);
		started = true;
	}
	pthread_mutex_unlock(&lock);
}

void buffers_set_zeroed(bool by_client)
{
	zeroed_by_client = by_client;
}

bool buffers_are_per_thread(void)
{
	return per_thread;
}

void buffers_set_per_thread(bool which)
{
	per_thread = which;
}

void buffers_set_period(uint32_t ms)
{
	period_ms = ms;
}

static void inspect(const uint8_t *data, size_t bytes)
{
	if ((uintptr_t)data % 8)
		call_log("MISUSE a buffer that is not aligned to 8 bytes");
	for (size_t i = 0; zeroed_by_client && i < bytes; i++) {
		if (data[i]) {
			call_log("MISUSE a buffer that was promised zeroed and is not");
			break;
		}
	}
}

/*
 * Asks the client for a buffer, without `lock`, as the client may take a lock of its own.
 * FAKE_CUPTI_KEEP_BUFFER=N: buffer N is never given back. FAKE_CUPTI_EMPTY_EVERY=N: every N-th
 * buffer is given back at once, empty. FAKE_CUPTI_HAND_MS: time until a flush finds a buffer.
 */
static struct buffer *obtain(uint32_t thread)
{
	const long empty_every = knob("CUPTI_EMPTY_EVERY", 0);
	static long count;
	size_t bytes = 0, max_records = 0;
	struct buffer *buffer;
	uint8_t *data = NULL;
	request_fn *callback = request;

	pthread_mutex_unlock(&lock);
	if (callback) {
		in_callback++;
		buffers_lock(true);
		if (knob("CUPTI_LOCK", 0)) /* so long that another thread can come meanwhile */
			sleep_until(now_ns() + 20 * NS_PER_MS);
		callback(&data, &bytes, &max_records);
		buffers_lock(false);
		in_callback--;
	}
	if (data)
		inspect(data, bytes);
	if (data && !zeroed_by_client)
		memset(data, 0, bytes);
	sleep_until(now_ns() + (uint64_t)knob("CUPTI_HAND_MS", 0) * NS_PER_MS);
	if (!data && callback && knob("CUPTI_VERSION", FAKE_VERSION) < 27 &&
	    knob("CUPTI_NULL_BUFFER_CRASH", 1)) {
		call_log("MISUSE no buffer, which crashes this version");
		abort();
	}
	pthread_mutex_lock(&lock);
	if (!data)
		return NULL;
	buffer = calloc(1, sizeof(*buffer));
	buffer->data = data;
	buffer->bytes = bytes;
	buffer->thread = thread;
	buffer->next = buffers;
	buffers = buffer;
	buffer->kept = ++count == knob("CUPTI_KEEP_BUFFER", 0);
	buffer->forced = empty_every && count % empty_every == 0;
	return buffer->forced ? obtain(thread) : buffer;
}

static struct buffer *buffer_for(uint32_t thread, size_t bytes)
{
	for (struct buffer *b = buffers; b; b = b->next) {
		if (b->full || b->forced || b->thread != thread)
			continue;
		if (b->used + bytes <= b->bytes)
			return b;
		b->full = true;
		pthread_cond_signal(&wake);
	}
	return obtain(thread);
}

static void place(const struct entry *entry)
{
	const long drop_every = knob("CUPTI_DROP_EVERY", 0);
	const size_t bytes = record_bytes(entry->kind);
	const uint32_t more = (uint32_t)knob("CUPTI_MORE", 0);
	static size_t seen;
	struct buffer *buffer = NULL;

	if (!drop_every || ++seen % (size_t)drop_every)
		buffer = buffer_for(per_thread ? thread_id() : 0, bytes);
	if (!buffer) {
		dropped++;
		return;
	}
	if (buffer->count == buffer->room) {
		buffer->room = buffer->room ? 2 * buffer->room : 64;
		buffer->entries =
			realloc(buffer->entries, buffer->room * sizeof(buffer->entries[0]));
	}
	buffer->entries[buffer->count++] = *entry;
	buffer->used += bytes;
	/* FAKE_CUPTI_MORE=kind: adds a record of this kind, enabled or not, after each record. */
	if (more && entry->kind != more) {
		struct entry other = *entry;

		other.kind = more;
		place(&other);
	}
}

/*
 * FAKE_CUPTI_PLACE_LATE: an operation gets its place in a buffer when it has ended, and not when
 * it is launched. So its buffer may have been requested after the operation began.
 */
static struct entry *waiting;
static size_t waiting_count, waiting_room;

static void wait_for_end(const struct entry *entry)
{
	if (waiting_count == waiting_room) {
		waiting_room = waiting_room ? 2 * waiting_room : 1024;
		waiting = realloc(waiting, waiting_room * sizeof(waiting[0]));
	}
	waiting[waiting_count++] = *entry;
}

/* Places the operations that have ended. place() releases the lock, so `waiting` may grow. */
static void place_ended(bool all)
{
	struct entry *before = waiting;
	const size_t count = waiting_count;
	const uint64_t now = now_ns();

	waiting = NULL;
	waiting_count = waiting_room = 0;
	for (size_t i = 0; i < count; i++) {
		if (all || before[i].op.end_ns <= now)
			place(&before[i]);
		else
			wait_for_end(&before[i]);
	}
	free(before);
}

/* Adds a record. FAKE_CUPTI_SAME_ID=N: all records have the correlation id N. */
void buffers_add(const struct entry *entry)
{
	const long id = knob("CUPTI_SAME_ID", 0);
	struct entry added = *entry;

	if (id)
		added.op.correlation = (uint32_t)id;
	pthread_mutex_lock(&lock);
	if (knob("CUPTI_PLACE_LATE", 0))
		wait_for_end(&added);
	else
		place(&added);
	pthread_mutex_unlock(&lock);
}

void buffers_flush(bool forced)
{
	pthread_mutex_lock(&lock);
	if (forced)
		place_ended(true);
	for (struct buffer *b = buffers; forced && b; b = b->next)
		b->forced = b->count > 0;
	flushing = 1;
	if (knob("CUPTI_FLUSH_BY_CALLER", 0)) {
		deliver_all();
		flushing = 0;
	} else if (started) {
		pthread_cond_signal(&wake);
		while (flushing || delivering)
			pthread_cond_wait(&done, &lock);
	}
	pthread_mutex_unlock(&lock);
}

size_t buffers_dropped(void)
{
	size_t count;

	pthread_mutex_lock(&lock);
	count = dropped;
	dropped = 0;
	pthread_mutex_unlock(&lock);
	return count;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, uint8_t **record)
{
	uint32_t kind;
	size_t at = 0;

	if (*record) {
		memcpy(&kind, *record, sizeof(kind));
		at = (size_t)(*record - buffer) + record_bytes(kind);
	}
	if (at >= valid_bytes)
		return MAX_LIMIT_REACHED;
	*record = buffer + at;
	memcpy(&kind, *record, sizeof(kind));
	return record_bytes(kind) ? SUCCESS : INVALID_KIND;
}
