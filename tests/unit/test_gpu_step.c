/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "analysis/gpu/gpu_step.h"

#define US 1000

/* An operation with its begin and end in microseconds. */
#define OP(kind, begin, end)                                                                       \
	{                                                                                          \
		(begin) * US, (end)*US, 0, DLPROF_GPU_WHAT(DLPROF_GPU_##kind, 7, 0), 0,            \
			DLPROF_GPU_##kind                                                          \
	}

static struct gpu_step measure(const struct gpu_op *ops, size_t count, int64_t begin, int64_t wait,
			       int64_t end)
{
	struct gpu_step step;

	cr_assert_eq(gpu_step_measure(ops, count, begin * US, wait * US, end * US, &step), 0);
	cr_expect_eq(step.gap_data_ns + step.gap_h2d_ns + step.gap_sync_ns + step.gap_host_ns +
			     step.gap_other_ns,
		     (end - begin) * US - step.busy_ns);
	return step;
}

Test(gpu_step, busy_is_a_union_clipped_to_the_step)
{
	const struct gpu_op ops[] = {
		OP(KERNEL, 50, 150), OP(KERNEL, 120, 180),  OP(NCCL, 130, 140),
		OP(GRAPH, 300, 350), OP(KERNEL, 900, 1100), OP(KERNEL, 990, 995),
	};
	struct gpu_step step = measure(ops, 6, 100, 100, 1000);

	cr_expect_eq(step.busy_ns, (80 + 50 + 100) * US);
	cr_expect_eq(step.nccl_ns, 10 * US);
	/* A kernel counts in the step in which it begins. */
	cr_expect_eq(step.kernel_count, 4);
	cr_expect_eq(step.graph_count, 1);
	cr_expect_eq(step.gap_host_ns, (120 + 550) * US);
	cr_expect_eq(step.gap_sync_ns, 0);
}

Test(gpu_step, nothing_is_all_gap)
{
	struct gpu_step step = measure(NULL, 0, 0, 400, 1000);

	cr_expect_eq(step.gap_data_ns, 400 * US);
	cr_expect_eq(step.gap_host_ns, 600 * US);
}

Test(gpu_step, the_wait_counts_where_the_gpu_is_idle_only)
{
	/* The GPU works for 300 of 500 us of the wait for data, on queued kernels. */
	const struct gpu_op ops[] = {OP(KERNEL, 0, 300), OP(KERNEL, 600, 900)};
	struct gpu_step step = measure(ops, 2, 0, 500, 1000);

	cr_expect_eq(step.gap_data_ns, 200 * US);
	cr_expect_eq(step.gap_host_ns, 200 * US);
	cr_expect_eq(step.refill_ns, 100 * US);
	/* There is no refill if the GPU works when the wait ends. */
	cr_expect_eq(measure(ops, 2, 0, 700, 1000).refill_ns, 0);
	cr_expect_eq(measure(ops, 2, 0, 250, 1000).refill_ns, 0);
}

Test(gpu_step, data_before_h2d_before_sync_before_host)
{
	const struct gpu_op ops[] = {
		OP(KERNEL, 0, 100),   OP(H2D, 150, 300),          OP(SYNC_STREAM, 250, 400),
		OP(KERNEL, 600, 700), OP(SYNC_CONTEXT, 650, 705), OP(KERNEL, 800, 900),
	};
	struct gpu_step step = measure(ops, 6, 0, 200, 1000);

	cr_expect_eq(step.gap_data_ns, 100 * US);
	cr_expect_eq(step.gap_h2d_ns, 100 * US);
	/* From 300 to 400, and the whole gap from 700 on, which begins in a wait for the GPU. */
	cr_expect_eq(step.gap_sync_ns, 200 * US);
	cr_expect_eq(step.gap_host_ns, 300 * US);
	cr_expect_eq(step.sync_stream_ns, 150 * US);
	cr_expect_eq(step.sync_context_ns, 55 * US);
	cr_expect_eq(step.h2d_ns, 150 * US);
}

Test(gpu_step, a_breath_between_kernels_is_not_the_hosts)
{
	const struct gpu_op ops[] = {OP(KERNEL, 0, 100), OP(KERNEL, 109, 200),
				     OP(KERNEL, 211, 300)};
	struct gpu_step step = measure(ops, 3, 0, 0, 300);

	cr_expect_eq(step.gap_other_ns, 9 * US);
	cr_expect_eq(step.gap_host_ns, 11 * US);
}

Test(gpu_step, a_gap_goes_by_its_own_begin_not_the_steps)
{
	/* The step begins in a gap that a wait for the GPU in the step before has caused. */
	const struct gpu_op ops[] = {OP(KERNEL, 0, 100), OP(SYNC_EVENT, 50, 110),
				     OP(KERNEL, 300, 400)};

	cr_expect_eq(measure(ops, 3, 200, 200, 400).gap_sync_ns, 100 * US);
	cr_expect_eq(measure(ops, 3, 200, 250, 400).gap_sync_ns, 0);
	cr_expect_eq(measure(ops, 3, 200, 250, 400).gap_host_ns, 50 * US);
}

Test(gpu_step, bytes_and_launches_go_to_where_they_begin)
{
	struct gpu_op ops[] = {OP(H2D, 0, 10), OP(H2D, 20, 30), OP(D2H, 40, 60),
			       OP(LAUNCH, 70, 80)};
	struct gpu_step step;

	ops[0].bytes = 1000;
	ops[1].bytes = 5000000000;
	ops[1].what = DLPROF_GPU_WHAT(DLPROF_GPU_H2D, 7, DLPROF_GPU_PAGEABLE);
	ops[2].bytes = 64;
	ops[3].what = DLPROF_GPU_WHAT(DLPROF_GPU_LAUNCH, 0, 300);
	step = measure(ops, 4, 10, 10, 100);
	cr_expect_eq(step.h2d_bytes, 5000000000);
	cr_expect_eq(step.h2d_pageable_bytes, 5000000000);
	cr_expect_eq(step.d2h_bytes, 64);
	cr_expect_eq(step.kernel_count, 300);
}

/* A copy counts as a wait only if the host's call lasts until its end, as in loss.item().
 */
Test(gpu_step, a_copy_that_was_waited_for_is_a_wait)
{
	const struct gpu_op waited[] = {OP(KERNEL, 0, 100), OP(API_COPY, 50, 140),
					OP(D2H, 100, 110), OP(KERNEL, 400, 500)};
	const struct gpu_op left[] = {OP(KERNEL, 0, 100), OP(API_COPY, 50, 60), OP(D2H, 100, 110),
				      OP(KERNEL, 400, 500)};
	const struct gpu_op other_way[] = {OP(KERNEL, 0, 100), OP(API_COPY, 50, 140),
					   OP(COPY, 100, 110), OP(KERNEL, 400, 500)};
	struct gpu_step step = measure(waited, 4, 0, 0, 500);

	cr_expect_eq(step.gap_sync_ns, 300 * US);
	cr_expect_eq(step.gap_host_ns, 0);
	step = measure(left, 4, 0, 0, 500);
	cr_expect_eq(step.gap_sync_ns, 0);
	cr_expect_eq(step.gap_host_ns, 290 * US);
	step = measure(other_way, 4, 0, 0, 500);
	cr_expect_eq(step.gap_sync_ns, 0);
}

static int by_begin(const void *a, const void *b)
{
	const struct gpu_op *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Compares random steps with counting each microsecond. */
Test(gpu_step, random_ones_agree_with_counting)
{
	enum { OPS = 60, END = 2000 };
	static const uint8_t kinds[] = {DLPROF_GPU_KERNEL, DLPROF_GPU_NCCL, DLPROF_GPU_H2D,
					DLPROF_GPU_SYNC_STREAM, DLPROF_GPU_D2H};

	srand(1);
	for (int round = 0; round < 200; round++) {
		bool busy[END] = {false}, h2d[END] = {false};
		int64_t busy_us = 0, h2d_us = 0, data_us = 0;
		struct gpu_op ops[OPS];
		struct gpu_step step;

		for (int i = 0; i < OPS; i++) {
			int64_t begin = rand() % END, end = begin + rand() % 40;
			uint8_t kind = kinds[rand() % 5];

			ops[i] = (struct gpu_op){
				begin * US, end * US, 0, DLPROF_GPU_WHAT(kind, 0, 0), 0, kind};
			for (int64_t at = begin; at < end && at < END; at++) {
				busy[at] |= kind <= DLPROF_GPU_NCCL;
				h2d[at] |= kind == DLPROF_GPU_H2D;
			}
		}
		qsort(ops, OPS, sizeof(ops[0]), by_begin);
		for (int at = 500; at < 1500; at++) {
			busy_us += busy[at];
			h2d_us += !busy[at] && h2d[at] && at >= 800;
			data_us += !busy[at] && at < 800;
		}
		step = measure(ops, OPS, 500, 800, 1500);
		cr_expect_eq(step.busy_ns, busy_us * US);
		cr_expect_eq(step.gap_h2d_ns, h2d_us * US);
		cr_expect_eq(step.gap_data_ns, data_us * US);
	}
}
