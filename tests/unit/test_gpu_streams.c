/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels are the training's or a loader's by their names, streams and launching threads. */
#include <criterion/criterion.h>

#include "analysis/gpu/gpu_streams.h"

enum { TRAINING = 100, AUTOGRAD, LOADER };
enum { DEFAULT = 7, SIDE = 13, COMMON = 17 };

static struct gpu_streams streams;
static struct gpu_op ops[16];
static size_t count;

static struct gpu_op *launch(enum dlprof_gpu_kind kind, int16_t device, uint32_t stream,
			     uint32_t thread)
{
	struct gpu_op *op = &ops[count++];

	*op = (struct gpu_op){
		.begin_ns = 1000 * (int64_t)count,
		.end_ns = 1000 * (int64_t)count + 900,
		.what = DLPROF_GPU_WHAT(kind, stream, thread),
		.device = device,
		.kind = (uint8_t)kind,
	};
	gpu_streams_note(&streams, op);
	return op;
}

static struct gpu_op *kernel(uint32_t stream, uint32_t thread)
{
	return launch(DLPROF_GPU_KERNEL, 0, stream, thread);
}

static bool is_loading(const struct gpu_op *op)
{
	return op->kind == DLPROF_GPU_LOADER;
}

static size_t mark(uint32_t training)
{
	return gpu_streams_mark(&streams, training, false, ops, count);
}

Test(gpu_streams, a_stream_of_no_training_thread_is_a_loaders)
{
	struct gpu_op *mine = kernel(DEFAULT, TRAINING), *theirs = kernel(SIDE, LOADER);

	cr_expect_eq(mark(TRAINING), 0);
	cr_expect_not(is_loading(mine));
	cr_expect(is_loading(theirs));
}

Test(gpu_streams, threads_that_share_a_stream_with_the_training_train)
{
	kernel(DEFAULT, TRAINING);
	kernel(DEFAULT, AUTOGRAD);
	/* As FSDP's copies after a reduction, which only the backward pass launches. */
	cr_expect_not(is_loading(kernel(COMMON, AUTOGRAD)));
	kernel(SIDE, LOADER);
	mark(TRAINING);
	cr_expect_not(is_loading(&ops[2]));
	cr_expect(is_loading(&ops[3]));
}

Test(gpu_streams, where_the_training_launches_nothing_nobody_is_taken_for_a_loader)
{
	kernel(SIDE, LOADER);
	launch(DLPROF_GPU_KERNEL, 1, COMMON, AUTOGRAD);
	cr_expect_eq(mark(TRAINING), 0);
	cr_expect_not(is_loading(&ops[0]));
	/* The training launches kernels on one device only. */
	kernel(COMMON, TRAINING);
	mark(TRAINING);
	cr_expect(is_loading(&ops[0]));
	cr_expect_not(is_loading(&ops[1]));
	/* It is not known which thread trains. */
	mark(0);
	cr_expect_not(is_loading(&ops[0]));
}

Test(gpu_streams, names_tell_on_any_stream_and_the_default_one_is_the_trainings)
{
	struct gpu_op *named = launch(DLPROF_GPU_LOADER, 0, DEFAULT, 0);

	kernel(DEFAULT, 0);
	cr_expect_eq(mark(TRAINING), 0);
	cr_expect(is_loading(named));
	cr_expect_not(is_loading(&ops[1]));
}

Test(gpu_streams, without_threads_half_of_a_streams_time_has_to_have_names)
{
	launch(DLPROF_GPU_LOADER, 0, SIDE, 0);
	kernel(SIDE, 0);
	cr_expect_eq(mark(TRAINING), 0);
	cr_expect(is_loading(&ops[1]));
	kernel(SIDE, 0);
	cr_expect_eq(mark(TRAINING), 2);
	cr_expect_not(is_loading(&ops[1]));
	cr_expect_eq(gpu_streams_mark(&streams, TRAINING, true, ops, count), 2);
	cr_expect(is_loading(&ops[1]));
}

Test(gpu_streams, a_launch_by_the_way_makes_no_training_thread)
{
	for (int i = 0; i < 8; i++)
		kernel(SIDE, LOADER);
	for (int i = 0; i < 200; i++) {
		kernel(DEFAULT, TRAINING);
		count--;
	}
	kernel(DEFAULT, LOADER);
	mark(TRAINING);
	cr_expect(is_loading(&ops[0]));
}

/* A loader's kernels keep the GPU busy in a wait, though the stream that trains lacks work. */
Test(gpu_streams, kernels_of_other_streams_hide_that_one_starves)
{
	static const int64_t times[][2] = {{10, 60}, {55, 65}, {110, 190}};

	kernel(SIDE, 0);
	kernel(DEFAULT, 0);
	kernel(DEFAULT, 0);
	for (size_t i = 0; i < count; i++) {
		ops[i].begin_ns = times[i][0];
		ops[i].end_ns = times[i][1];
	}
	gpu_streams_mask(&streams, ops, count, 0, 100, 200);
	cr_expect_eq(streams.wait_ns, 100);
	cr_expect_eq(streams.rest_ns, 100);
	cr_expect_eq(streams.masked_ns, 45);
}
