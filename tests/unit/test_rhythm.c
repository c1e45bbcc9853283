/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps found from the GPU's operations alone, in trainings of known shape, and none where there is
 * no training. Truth is where each step's last operation began; a step is found if exactly one
 * beginning lies between two such ends.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/rhythm.h"
#include "fake_gpu.h"

#define US    FAKE_GPU_US
#define SEEDS 300 /* with 5000, 3 of 45,000 traces were given steps, all of `services` */

/* F1 of what going on from `found` finds in all operations, which are sorted by now. */
static double score(struct rhythm found)
{
	size_t i, at = 0, exact = 0, extra = 0, in_step = 0;

	found.armed = false;
	for (i = 0; i < fake_gpu.op_count && at < fake_gpu.end_count; i++) {
		for (; at < fake_gpu.end_count && fake_gpu.ops[i].begin_ns > fake_gpu.ends[at];
		     at++) {
			exact += in_step == 1;
			extra += in_step > 1 ? in_step - 1 : 0;
			in_step = 0;
		}
		in_step += rhythm_is_step(&found, &fake_gpu.ops[i]);
	}
	exact += in_step == 1;
	return 2 * (double)exact /
	       (2 * (double)exact + (double)extra + (double)(fake_gpu.end_count - exact));
}

static int by_begin(const void *a, const void *b)
{
	const struct rhythm_op *left = a, *right = b;

	return left->begin_ns < right->begin_ns ? -1 : left->begin_ns > right->begin_ns;
}

static void shuffle(void)
{
	for (size_t i = fake_gpu.op_count; i > 1; i--) {
		size_t other = fake_gpu_random() % i;
		struct rhythm_op swapped = fake_gpu.ops[i - 1];

		fake_gpu.ops[i - 1] = fake_gpu.ops[other];
		fake_gpu.ops[other] = swapped;
	}
}

Test(rhythm, trainings)
{
	for (size_t i = 0; i < FAKE_GPU_SHAPES; i++) {
		for (int seed = 1; seed <= 40; seed++) {
			int steps = 30 + 10 * seed;
			struct rhythm found;
			double f1;

			fake_gpu_begin((uint64_t)seed);
			fake_gpu.named = seed % 2 == 0;
			if (seed % 3 == 0)
				fake_gpu_start();
			fake_gpu_shapes[i].run(steps);
			shuffle();
			cr_assert_eq(rhythm_find(fake_gpu.ops, fake_gpu.op_count, &found), 0);
			qsort(fake_gpu.ops, fake_gpu.op_count, sizeof(*fake_gpu.ops), by_begin);
			f1 = score(found);
			cr_log_info("%s %d: confidence %.2f F1 %.3f of %zu: %zu, %.0f us",
				    fake_gpu_shapes[i].name, seed, found.confidence, f1,
				    fake_gpu.end_count, found.step_count, found.period_ns / 1e3);
			cr_expect_geq(found.confidence, RHYTHM_CONFIDENT, "%s %d: %f",
				      fake_gpu_shapes[i].name, seed, found.confidence);
			if (!fake_gpu.named && fake_gpu_shapes[i].either)
				continue;
			cr_expect_geq(f1, 0.95, "%s %d: F1 %f", fake_gpu_shapes[i].name, seed, f1);
			cr_expect_eq(found.inner_count, fake_gpu_shapes[i].inner, "%s %d: %d",
				     fake_gpu_shapes[i].name, seed, found.inner_count);
		}
	}
}

/* What the steps are counted by is found in the first part and holds for the rest. */
Test(rhythm, goes_on)
{
	for (size_t i = 0; i < FAKE_GPU_SHAPES; i++) {
		struct rhythm found;
		size_t steps = 0;

		fake_gpu_begin(7);
		fake_gpu.named = true;
		fake_gpu_shapes[i].run(400);
		qsort(fake_gpu.ops, fake_gpu.op_count, sizeof(*fake_gpu.ops), by_begin);
		cr_assert_eq(rhythm_find(fake_gpu.ops, fake_gpu.op_count / 4, &found), 0);
		cr_expect_geq(score(found), 0.95, "%s", fake_gpu_shapes[i].name);
		steps = found.step_count;
		for (size_t k = fake_gpu.op_count / 4; k < fake_gpu.op_count; k++)
			steps += rhythm_is_step(&found, &fake_gpu.ops[k]);
		cr_expect(steps >= 390 && steps <= 402, "%s: %zu steps", fake_gpu_shapes[i].name,
			  steps);
	}
}

/* A record in two hundred is lost. */
Test(rhythm, losses)
{
	for (size_t i = 0; i < FAKE_GPU_SHAPES; i++) {
		struct rhythm found;
		size_t kept = 0;

		fake_gpu_begin(11);
		fake_gpu.named = true;
		fake_gpu_shapes[i].run(300);
		for (size_t k = 0; k < fake_gpu.op_count; k++)
			if (fake_gpu_pick(200))
				fake_gpu.ops[kept++] = fake_gpu.ops[k];
		fake_gpu.op_count = kept;
		cr_assert_eq(rhythm_find(fake_gpu.ops, fake_gpu.op_count, &found), 0);
		qsort(fake_gpu.ops, fake_gpu.op_count, sizeof(*fake_gpu.ops), by_begin);
		cr_expect_geq(score(found), 0.95, "%s: %f, confidence %f", fake_gpu_shapes[i].name,
			      score(found), found.confidence);
	}
}

/* No training. `size`: how many operations about. */
static void independent(int size)
{
	int names = 2 + fake_gpu_pick(fake_gpu_pick(2) ? 5 : 100);

	for (int i = 0; i < size; i++) {
		int what = fake_gpu_pick(10);

		fake_gpu.now_ns += fake_gpu_pick(200) * US;
		if (what < 8)
			fake_gpu_kernel(FAKE_GPU_ANY + fake_gpu_pick(names),
					1 + fake_gpu_pick(100));
		else
			fake_gpu_emit(what == 8 ? RHYTHM_H2D : RHYTHM_D2H, 0,
				      1u << fake_gpu_pick(20), FAKE_GPU_COMPUTE, 10);
	}
}

static void of_some_most(int size)
{
	int names = 3 + fake_gpu_pick(60);

	for (int i = 0; i < size; i++) {
		int id = 0;

		while (id < names && fake_gpu_pick(3))
			id++;
		fake_gpu_kernel(FAKE_GPU_ANY + id, 10);
		if (!fake_gpu_pick(20))
			fake_gpu_read_back();
	}
}

static void chain(int size)
{
	enum { STATES = 24 };
	int next[STATES][4], at = 0, states = 4 + fake_gpu_pick(STATES - 3);

	for (int i = 0; i < states; i++)
		for (int k = 0; k < 4; k++)
			next[i][k] = fake_gpu_pick(states);
	for (int i = 0; i < size; i++) {
		fake_gpu_kernel(FAKE_GPU_ANY + at, 10 + at);
		at = fake_gpu_pick(20) ? next[at][fake_gpu_pick(4)] : fake_gpu_pick(states);
	}
}

/* Each job another program. */
static void jobs(int size)
{
	int names = 20 + fake_gpu_pick(100);

	while ((int)fake_gpu.op_count < size) {
		int length = 5 + fake_gpu_pick(60);

		fake_gpu.now_ns += fake_gpu_pick(100000) * US;
		for (int i = 0; i < length; i++)
			fake_gpu_kernel(FAKE_GPU_ANY + fake_gpu_pick(names), 10);
		if (fake_gpu_pick(2))
			fake_gpu_read_back();
	}
}

/*
 * One of several fixed programs at a time, in no order. (One that makes three quarters of all the
 * work would be a step, with others in between.)
 */
static void services(int size)
{
	int programs = 4 + fake_gpu_pick(8), lengths[12];

	for (int i = 0; i < programs; i++)
		lengths[i] = 10 + fake_gpu_pick(30);
	while ((int)fake_gpu.op_count < size) {
		int which = fake_gpu_pick(programs);

		fake_gpu.now_ns += fake_gpu_pick(5000) * US;
		fake_gpu_input(FAKE_GPU_COMPUTE);
		for (int i = 0; i < lengths[which]; i++)
			fake_gpu_kernel(FAKE_GPU_ANY + 100 * which + i % 17, 10);
		fake_gpu_read_back();
	}
}

/* Each kernel many times, then the next. */
static void tuning(int size)
{
	for (int id = 0; (int)fake_gpu.op_count < size; id++)
		for (int i = 0, times = 20 + fake_gpu_pick(100); i < times; i++) {
			fake_gpu_emit(RHYTHM_MEMSET, 0, 1u << 28, FAKE_GPU_COMPUTE, 100);
			fake_gpu_kernel(FAKE_GPU_ANY + id, 50);
		}
}

static void interactive(int size)
{
	int names = 10 + fake_gpu_pick(50);

	while ((int)fake_gpu.op_count < size) {
		fake_gpu.now_ns += fake_gpu_pick(1000000) * US;
		for (int i = 1 + fake_gpu_pick(4); i > 0; i--)
			fake_gpu_kernel(FAKE_GPU_ANY + fake_gpu_pick(names), 10);
		fake_gpu_read_back();
	}
}

/* One kernel, again and again. */
static void alone(int size)
{
	while ((int)fake_gpu.op_count < size) {
		fake_gpu.now_ns += fake_gpu_pick(100) * US;
		fake_gpu_kernel(FAKE_GPU_ANY, 50);
	}
}

static void copies(int size)
{
	while ((int)fake_gpu.op_count < size)
		fake_gpu_emit(fake_gpu_pick(2) ? RHYTHM_H2D : RHYTHM_D2H, 0, 1u << 20,
			      FAKE_GPU_COMPUTE, 50 + fake_gpu_pick(50));
}

Test(rhythm, nothing_periodic)
{
	static const struct {
		const char *name;
		void (*run)(int size);
	} families[] = {
		{"independent", independent},
		{"of some most", of_some_most},
		{"chain", chain},
		{"jobs", jobs},
		{"services", services},
		{"tuning", tuning},
		{"interactive", interactive},
		{"alone", alone},
		{"copies", copies},
	};
	static const int sizes[] = {60, 150, 400, 2000, 10000};

	fake_gpu.named = false;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		for (int seed = 1; seed <= SEEDS; seed++) {
			struct rhythm found;
			int size = sizes[seed % 5];

			fake_gpu_begin((uint64_t)seed);
			families[i].run(size);
			/* A kernel of that name in between makes no training of it. */
			for (size_t k = 0; seed % 2 && k < fake_gpu.op_count; k++)
				fake_gpu.ops[k].is_optimizer =
					fake_gpu.ops[k].id ==
						fake_gpu.ops[fake_gpu.op_count / 2].id &&
					fake_gpu.ops[k].kind == RHYTHM_KERNEL;
			cr_assert_eq(rhythm_find(fake_gpu.ops, fake_gpu.op_count, &found), 0);
			cr_expect_lt(found.confidence, RHYTHM_CONFIDENT,
				     "%s, %d operations, seed %d: confidence %f, %zu steps by %s",
				     families[i].name, size, seed, found.confidence,
				     found.step_count, found.by_optimizer ? "optimizer" : "anchor");
			for (size_t k = 0; k < fake_gpu.op_count; k++)
				cr_assert_not(found.confidence < RHYTHM_CONFIDENT &&
					      rhythm_is_step(&found, &fake_gpu.ops[k]));
		}
	}
}

Test(rhythm, little_and_odd)
{
	struct rhythm found;

	cr_assert_eq(rhythm_find(NULL, 0, &found), 0);
	cr_assert_eq(found.confidence, 0);
	cr_assert(isnan(found.period_ns));
	for (int steps = 1; steps < 12; steps++) {
		fake_gpu_begin(3);
		fake_gpu.named = true;
		fake_gpu_shapes[0].run(steps);
		cr_assert_eq(rhythm_find(fake_gpu.ops, fake_gpu.op_count, &found), 0);
		cr_expect_eq(found.confidence >= RHYTHM_CONFIDENT, steps > RHYTHM_FEWEST_STEPS,
			     "%d steps: %f", steps, found.confidence);
	}
	/* Nothing in a record is believed. */
	fake_gpu_begin(5);
	fake_gpu.named = true;
	fake_gpu_shapes[0].run(200);
	for (size_t i = 0; i < fake_gpu.op_count; i++) {
		if (fake_gpu_pick(4))
			continue;
		fake_gpu.ops[i].begin_ns = (int64_t)fake_gpu_random();
		fake_gpu.ops[i].end_ns = (int64_t)fake_gpu_random();
		fake_gpu.ops[i].kind = (uint8_t)fake_gpu_random();
		fake_gpu.ops[i].bytes = fake_gpu_random();
	}
	cr_assert_eq(rhythm_find(fake_gpu.ops, fake_gpu.op_count, &found), 0);
	/* More names than are kept. */
	fake_gpu_begin(6);
	for (int i = 0; i < 30000; i++)
		fake_gpu_kernel(FAKE_GPU_ANY + i % 9000, 5);
	cr_assert_eq(rhythm_find(fake_gpu.ops, fake_gpu.op_count, &found), 0);
}

Test(rhythm, names)
{
	static const char *const optimizers[] = {
		"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::("
		"anonymous namespace)::TensorListMetadata<2>, ...>",
		"_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_32FusedAdamMathFunctor",
		"void adamw_cuda_kernel<float>(...)",
		"LAMBStage1Functor",
		"triton_for_fused_0",
	};
	static const char *const others[] = {
		"void at::native::vectorized_elementwise_kernel<4, "
		"at::native::BinaryFunctor<float, "
		"float, bool, at::native::{lambda(float)#1}>>",
		"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32",
		"",
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL",
		"triton_poi_fused_add_0",
	};

	for (size_t i = 0; i < sizeof(optimizers) / sizeof(*optimizers); i++)
		cr_expect(rhythm_is_optimizer(optimizers[i]), "%s", optimizers[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		cr_expect_not(rhythm_is_optimizer(others[i]), "%s", others[i]);
}

Test(rhythm, a_million_operations)
{
	struct timespec from, to;
	struct rhythm found;
	double seconds;

	fake_gpu_begin(9);
	fake_gpu.named = false;
	fake_gpu_shapes[0].run(23000);
	cr_assert_gt(fake_gpu.op_count, 980000);
	shuffle();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	cr_assert_eq(rhythm_find(fake_gpu.ops, fake_gpu.op_count, &found), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
	cr_log_info("%zu operations in %.2f s", fake_gpu.op_count, seconds);
	cr_expect_geq(found.confidence, RHYTHM_CONFIDENT);
	/* Far above what it takes, far below what anything quadratic would. */
	cr_expect_lt(seconds, 5, "%f s", seconds);
}
