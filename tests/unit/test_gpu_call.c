/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "analysis/gpu/gpu_step.h"

#define TRAINING 100
#define HELPER   ((1u << DLPROF_GPU_ID_BITS) - 1) /* the largest id that a thread can have */

#define CALL(kind, thread, begin, end)                                                             \
	{                                                                                          \
		begin, end, 0, DLPROF_GPU_WHAT(DLPROF_GPU_API_##kind, 0, thread), -1,              \
			DLPROF_GPU_API_##kind                                                      \
	}

static void expect(const struct gpu_call_times *times, int64_t sync, int64_t copy, int64_t launch,
		   int64_t count)
{
	cr_expect_eq(times->sync_ns, sync);
	cr_expect_eq(times->copy_ns, copy);
	cr_expect_eq(times->launch_ns, launch);
	cr_expect_eq(times->launch_count, count);
}

Test(gpu_call, threads_are_told_apart_and_calls_are_clipped)
{
	const struct gpu_op ops[] = {
		CALL(SYNC, TRAINING, 50, 150),
		CALL(LAUNCH, HELPER, 90, 120),
		CALL(LAUNCH, TRAINING, 200, 230),
		CALL(COPY, HELPER, 210, 400),
		{300, 500, 0, DLPROF_GPU_WHAT(DLPROF_GPU_KERNEL, 0, TRAINING), 0,
		 DLPROF_GPU_KERNEL},
		CALL(COPY, TRAINING, 900, 1100),
		CALL(LAUNCH, TRAINING, 1000, 1010),
	};
	struct gpu_calls calls;

	gpu_calls_measure(ops, 7, 100, 1000, TRAINING, &calls);
	expect(&calls.training, 50, 100, 30, 1);
	expect(&calls.others, 0, 190, 20, 0);
}

/* As calls of the driver that the runtime makes: of the same thread, and within its call's time. */
Test(gpu_call, a_call_within_a_call_is_part_of_it)
{
	const struct gpu_op ops[] = {
		CALL(LAUNCH, TRAINING, 0, 100),   CALL(LAUNCH, TRAINING, 10, 90),
		CALL(LAUNCH, HELPER, 20, 80),     CALL(COPY, TRAINING, 200, 300),
		CALL(SYNC, TRAINING, 220, 299),   CALL(LAUNCH, TRAINING, 300, 310),
		CALL(LAUNCH, TRAINING, 400, 450), CALL(LAUNCH, TRAINING, 400, 500),
	};
	struct gpu_calls calls;

	gpu_calls_measure(ops, 8, 0, 1000, TRAINING, &calls);
	expect(&calls.training, 0, 100, 210, 3);
	expect(&calls.others, 0, 0, 60, 1);
}

static int by_begin(const void *a, const void *b)
{
	const struct gpu_op *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Each nanosecond of each thread is counted once, whatever calls overlap. */
Test(gpu_call, random_ones_agree_with_counting)
{
	enum { THREADS = 5, END = 1000, OPS = 80 };
	static bool within[THREADS][END];

	srand(2);
	for (int round = 0; round < 200; round++) {
		int64_t sum = 0, others = 0;
		struct gpu_op ops[OPS];
		struct gpu_calls calls;

		for (int t = 0; t < THREADS; t++)
			for (int at = 0; at < END; at++)
				within[t][at] = false;
		for (int i = 0; i < OPS; i++) {
			int64_t begin = rand() % END, end = begin + rand() % 60;
			int thread = rand() % THREADS;

			ops[i] = (struct gpu_op)CALL(SYNC, (unsigned)thread + 1, begin, end);
			for (int64_t at = begin; at < end && at < END; at++)
				within[thread][at] = true;
		}
		qsort(ops, OPS, sizeof(ops[0]), by_begin);
		for (int at = 200; at < 800; at++) {
			sum += within[0][at];
			for (int t = 1; t < THREADS; t++)
				others += within[t][at];
		}
		gpu_calls_measure(ops, OPS, 200, 800, 1, &calls);
		cr_expect_eq(calls.training.sync_ns, sum);
		cr_expect_eq(calls.others.sync_ns, others);
	}
}
