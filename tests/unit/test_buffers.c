/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cuda/buffers.h"

enum { SOFT = 256, HARD = 512, RECORD = 216 };

static uint8_t *held[HARD];
static size_t held_count;

static bool is_fresh(const uint8_t *buffer)
{
	for (size_t i = 0; i < held_count; i++)
		if (held[i] == buffer)
			return false;
	return true;
}

static void request_all(void)
{
	uint8_t *buffer;

	while (held_count < HARD && (buffer = buffers_request())) {
		cr_assert(is_fresh(buffer) && buffers_is_ours(buffer));
		cr_assert_eq((uintptr_t)buffer % 8, 0);
		buffer[0] = buffer[BUFFER_BYTES - 1] = (uint8_t)held_count;
		held[held_count++] = buffer;
	}
}

Test(buffers, an_empty_pool_says_so_and_gets_over_it)
{
	size_t size;

	cr_assert_eq(buffers_init(false), 0);
	request_all();
	cr_expect_eq(held_count, SOFT);
	cr_expect_eq(buffers_out(), SOFT);
	cr_expect_null(buffers_request());
	/* CUPTI itself counts records that it drops for want of a buffer. */
	cr_expect_eq(buffers_dropped(), 0);
	for (size_t i = 0; i < held_count; i++)
		cr_expect(held[i][0] == (uint8_t)i && held[i][BUFFER_BYTES - 1] == (uint8_t)i);
	buffers_complete(held[7], 1000, 5);
	cr_expect_eq(buffers_take(&size), held[7]);
	cr_expect(size == 1000 && buffers_forced_ns(held[7]) == 5);
	cr_expect_null(buffers_request());
	buffers_free(held[7], 0);
	cr_expect_eq(buffers_request(), held[7]);
}

/* A CUPTI that crashes without a buffer always gets one; records lost by that are counted. */
Test(buffers, never_none_where_that_would_be_the_end)
{
	size_t size;

	cr_assert_eq(buffers_init(true), 0);
	request_all();
	cr_expect_eq(held_count, HARD);
	for (int i = 0; i < 100; i++) {
		uint8_t *sink = buffers_request();

		cr_assert_not_null(sink);
		cr_expect(is_fresh(sink) && buffers_is_ours(sink));
		sink[0] = sink[BUFFER_BYTES - 1] = 1;
		buffers_complete(sink, BUFFER_BYTES, 0);
		cr_expect_null(buffers_take(&size), "what all wrote into is not read");
	}
	cr_expect_eq(buffers_dropped(), 100 * (BUFFER_BYTES / RECORD));
	/* A delivered buffer that nobody has read yet is given again, rather than the sink. */
	buffers_complete(held[3], 10 * RECORD, 0);
	cr_expect_eq(buffers_request(), held[3]);
	cr_expect_eq(buffers_dropped(), 100 * (BUFFER_BYTES / RECORD) + 11);
	cr_expect_null(buffers_take(&size));
}

Test(buffers, a_size_that_cannot_be_is_nothing)
{
	size_t size;

	cr_assert_eq(buffers_init(false), 0);
	buffers_complete(buffers_request(), BUFFER_BYTES + 1, 0);
	cr_expect_not_null(buffers_take(&size));
	cr_expect_eq(size, 0);
	cr_expect_not(buffers_is_ours(NULL));
	cr_expect_not(buffers_is_ours((uint8_t *)&size));
}

/* The random test's list of requests: in their order, and where each buffer is. */
enum { WITH_CUPTI, DONE, READING, GONE };

struct request {
	uint8_t *buffer;
	uint64_t after_ns, before_ns; /* times between which it was made */
	int where;
	size_t size;
};

static struct request requests[20000];
static size_t first, last;

/* Finds a request whose buffer is at `where`: the oldest, or one that follows a random place. */
static struct request *pick(int where, bool oldest)
{
	size_t begin = oldest || first == last ? first : first + (size_t)rand() % (last - first);

	for (size_t i = begin; i < last; i++)
		if (requests[i].where == where)
			return &requests[i];
	return NULL;
}

static void check_complete(void)
{
	const struct request *out = pick(WITH_CUPTI, true), *done = pick(DONE, true);
	const struct request *oldest = !out ? done : !done || out < done ? out : done;
	uint64_t found_ns = buffers_complete_ns(UINT64_MAX);

	if (!oldest)
		cr_expect_eq(found_ns, UINT64_MAX);
	else
		cr_expect(found_ns >= oldest->after_ns && found_ns <= oldest->before_ns);
}

Test(buffers, random_uses_agree_with_a_list)
{
	int live = 0;

	cr_assert_eq(buffers_init(false), 0);
	srand(5);
	for (int i = 0; i < 30000; i++) {
		struct request *request;
		uint64_t after_ns;
		size_t size;

		switch (rand() % 4) {
		case 0:
			if (live == 200 || last == 20000)
				break;
			live++;
			after_ns = clock_now_ns();
			requests[last] = (struct request){buffers_request(), after_ns,
							  clock_now_ns(), WITH_CUPTI, 0};
			cr_assert_not_null(requests[last++].buffer);
			break;
		case 1:
			request = pick(WITH_CUPTI, false);
			if (!request)
				break;
			request->where = DONE;
			request->size = (size_t)rand() % BUFFER_BYTES;
			buffers_complete(request->buffer, request->size, 0);
			break;
		case 2:
			request = pick(DONE, true);
			cr_assert_eq(buffers_take(&size), request ? request->buffer : NULL);
			if (!request)
				break;
			cr_expect_eq(size, request->size);
			request->where = READING;
			break;
		default:
			request = pick(READING, false);
			if (!request)
				break;
			request->where = GONE;
			live--;
			buffers_free(request->buffer, 0);
			break;
		}
		while (first < last && requests[first].where == GONE)
			first++;
		check_complete();
	}
	cr_expect_gt(last, 1000);
}

/* A buffer that stays away makes a gap of its time; if it comes back later it is still read. */
Test(buffers, lost_ones_hold_nobody_up)
{
	uint64_t begin_ns, end_ns, before_ns = clock_now_ns();
	uint8_t *lost, *kept;
	size_t size;

	cr_assert_eq(buffers_init(false), 0);
	lost = buffers_request();
	kept = buffers_request();
	buffers_complete(kept, 6, 0);
	cr_expect_eq(buffers_take(&size), kept);
	buffers_free(kept, 0);
	cr_expect_not(buffers_take_lost(0, &begin_ns, &end_ns), "it may be late");
	cr_expect_lt(buffers_complete_ns(UINT64_MAX), UINT64_MAX);
	cr_expect(buffers_take_lost(UINT64_MAX, &begin_ns, &end_ns));
	cr_expect(before_ns <= begin_ns && begin_ns <= end_ns && end_ns <= clock_now_ns());
	cr_expect_not(buffers_take_lost(UINT64_MAX, &begin_ns, &end_ns), "once");
	cr_expect_eq(buffers_out(), 0);
	cr_expect_eq(buffers_complete_ns(UINT64_MAX), UINT64_MAX);
	buffers_complete(lost, 5, 0);
	cr_expect_eq(buffers_take(&size), lost);
	buffers_free(lost, 0);
}

/* A mark is for buffers that CUPTI has, and ends with a buffer's next request. */
Test(buffers, what_cupti_has_can_be_marked)
{
	uint64_t begin_ns, end_ns;
	uint8_t *out, *back, *lost, *later;
	size_t size;

	cr_assert_eq(buffers_init(false), 0);
	lost = buffers_request();
	cr_assert(buffers_take_lost(UINT64_MAX, &begin_ns, &end_ns));
	out = buffers_request();
	back = buffers_request();
	buffers_complete(back, 6, 0);
	cr_expect_not(buffers_shared_out());
	buffers_share_out();
	cr_expect(buffers_is_shared(out) && buffers_is_shared(lost) && !buffers_is_shared(back));
	later = buffers_request();
	cr_expect_not(buffers_is_shared(later));
	buffers_share(later);
	cr_expect(buffers_is_shared(later));
	buffers_complete(later, 6, 0);
	buffers_complete(lost, 6, 0);
	cr_expect(buffers_is_shared(later) && buffers_shared_out(), "one is still out");
	buffers_complete(out, 6, 0);
	cr_expect_not(buffers_shared_out());
	for (uint8_t *read; (read = buffers_take(&size));)
		buffers_free(read, 0);
	request_all();
	for (size_t i = 0; i < held_count; i++)
		cr_expect_not(buffers_is_shared(held[i]));
	cr_expect_not(buffers_is_shared((uint8_t *)&size));
	buffers_share((uint8_t *)&size);
}

static void *request_one(void *unused)
{
	return buffers_request();
}

/*
 * The operations of a lost buffer ran before those ended that its thread launched next, though the
 * thread may have requested the next buffer long before. Buffers of other threads tell nothing.
 */
Test(buffers, what_was_lost_ran_before_what_its_thread_launched_next)
{
	const uint64_t reached_ns = clock_now_ns() + 5000000000;
	uint64_t begin_ns, end_ns;
	pthread_t thread;
	uint8_t *later;
	size_t size;
	void *other;

	cr_assert_eq(buffers_init(false), 0);
	cr_assert_eq(pthread_create(&thread, NULL, request_one, NULL), 0);
	pthread_join(thread, &other);
	buffers_request();
	later = buffers_request();
	buffers_complete(later, 6, 0);
	cr_assert_eq(buffers_take(&size), later);
	buffers_free(later, reached_ns);
	for (int i = 0, bounded = 0; i < 2; i++) {
		cr_assert(buffers_take_lost(UINT64_MAX, &begin_ns, &end_ns));
		bounded += end_ns == reached_ns;
		cr_expect(i == 0 || bounded == 1, "this thread's, and not the other's");
	}
}
