/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests which stage of a pipeline limits it, on pipelines with a known flaw: sums in ms, measured
 * with TensorFlow 2.21 on two cores.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "analysis/cause/stages.h"

#define MS   1e6
#define NONE (-1)

/* A stage. parent: place of the stage that it feeds, NONE: not known; cpu < 0: not known. */
struct row {
	const char *name;
	int parent;
	double elements, busy, own, cpu, read;
	int parallel, capacity, threads;
	bool is_autotuned;
};

static struct stage_work list[32];
static struct stage_finding found;
static double used_cores = NAN, free_cores = 2, longest_epoch = 1, first_ms = NAN, later_ms = NAN;

static void judge(const struct row *rows, size_t count, double wait_ms, double step_ms)
{
	const struct stages stages = {list, count, 1e9};
	const struct stages_facts facts = {
		.wait_ns = wait_ms * MS,
		.step_ns = step_ms * MS,
		.cores = 2,
		.free_cores = free_cores,
		.used_cores = used_cores,
		.longest_epoch = longest_epoch,
		.first_ns = first_ms * MS,
		.later_ns = later_ms * MS,
	};

	memset(list, 0, sizeof(list));
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		const bool is_kernel = *row->name == '+';
		struct stage_work *stage = &list[i];

		strcpy(stage->name, row->name + is_kernel);
		stage->is_kernel = is_kernel;
		stage->kind = stage_kind_of(stage->name, is_kernel);
		stage->is_root = strcmp(row->name, "Root") == 0 ||
				 strcmp(row->name, "RunCPU") == 0 ||
				 strcmp(row->name, "PopOutputs") == 0;
		stage->parent = row->parent == NONE ? STAGE_NOWHERE : (size_t)row->parent;
		stage->elements = row->elements;
		stage->busy_ns = row->busy * MS;
		stage->own_ns = row->own * MS;
		stage->cpu_ns = row->cpu < 0 ? NAN : row->cpu * MS;
		stage->read_ns = row->read * MS;
		stage->parallel = row->parallel ? row->parallel : -1;
		stage->capacity = row->capacity ? row->capacity : -1;
		stage->threads = row->threads ? row->threads : -1;
		stage->is_autotuned = row->is_autotuned;
		stage->queue = NAN;
	}
	stages_judge(&stages, &facts, &found);
}

#define JUDGE(rows, wait_ms, step_ms) judge(rows, sizeof(rows) / sizeof(rows[0]), wait_ms, step_ms)

static const char *slow_name(void)
{
	return found.slow == STAGE_NOWHERE ? "" : list[found.slow].name;
}

static const char *lead_name(void)
{
	return found.lead == STAGE_NOWHERE ? "" : list[found.lead].name;
}

static const struct row PAR8[] = {
	{"Root", NONE, 80, 18553, 8, -1, 0, 0, 0, 2},
	{"Prefetch", 0, 80, 18546, 18546, 3, 0, 0, 4},
	{"MapAndBatch", 1, 80, 20506, 20506, 53, 0, 8},
	{"TensorSlice", 2, 1280, 30, 30, 5},
	{"+ReadFile", NONE, 1280, 32265, 32265, 331, 32120},
	{"+DecodeJpeg", NONE, 1280, 3482, 3482, 2586},
	{"+ResizeBilinear", NONE, 1280, 938, 938, 574},
};

Test(stages, reads_fill_a_pool_of_two_threads)
{
	JUDGE(PAR8, 232, 24);
	cr_expect_eq(found.limit, STAGE_LIMIT_POOL);
	cr_expect_str_eq(slow_name(), "MapAndBatch");
	cr_expect_str_eq(lead_name(), "ReadFile");
	cr_expect(found.is_reading && found.is_prefetched);
	cr_expect_float_eq(found.lead_share, 0.88, 0.01);
	cr_expect_float_eq(found.at_once, 1.8, 0.1);
	cr_expect_eq(found.asked, 8);
	cr_expect_eq(found.threads, 2);
	cr_expect_eq(found.wanted, 8);
	/* Measured with 16 threads: 12.0 s instead of 20.5 s, and 2.75 s instead of 6.18 s. */
	cr_expect(found.own_threads.low <= 0.71 && found.own_threads.high >= 1.25);
	/* It is not known whether the storage can read any faster. */
	cr_expect_eq(found.own_threads.low, 0);
	/* A batch takes at least its CPU time divided by the cores: 22 of 256 ms. */
	cr_expect(found.own_threads.high <= 256 / 24.0 - 1);
}

Test(stages, a_pool_that_is_wide_enough_is_not_narrow)
{
	struct row rows[7];

	memcpy(rows, PAR8, sizeof(rows));
	rows[0].threads = 16;
	JUDGE(rows, 232, 24);
	cr_expect_eq(found.limit, STAGE_LIMIT_WORK);
	cr_expect(isnan(found.own_threads.gain));
	/* Nor is a pool too narrow whose threads compute: more threads get no more of the cores. */
	memcpy(rows, PAR8, sizeof(rows));
	rows[4].cpu = rows[4].own;
	JUDGE(rows, 232, 24);
	cr_expect_eq(found.limit, STAGE_LIMIT_WORK);
	cr_expect(!found.is_reading);
	cr_expect(isnan(found.own_threads.gain));
}

static const struct row TFR[] = {
	{"Root", NONE, 80, 26498, 2, -1, 0, 0, 0, 2},
	{"Prefetch", 0, 80, 26496, 26496, 4, 0, 0, 1, 0, true},
	{"MapAndBatch", 1, 80, 28344, 28344, 30, 0, 2, 0, 0, true},
	{"Interleave", 2, 1280, 28053, 45, -1, 0, 0, 4},
	{"FlatMap", 3, 1280, 28008, 33, -1},
	{"TFRecord", 4, 1280, 27975, 27975, 367, 27772},
	{"+DecodeJpeg", NONE, 1280, 3026, 3026, 2511},
	{"+ResizeBilinear", NONE, 1280, 695, 695, 606},
};

Test(stages, an_interleave_asks_one_after_the_other)
{
	JUDGE(TFR, 332, 22);
	cr_expect_eq(found.limit, STAGE_LIMIT_SERIAL);
	cr_expect_str_eq(slow_name(), "TFRecord");
	cr_expect_str_eq(lead_name(), "TFRecord");
	cr_expect_str_eq(list[found.opener].name, "Interleave");
	cr_expect(found.is_reading);
	cr_expect_eq(found.wanted, 4);
	/* Measured: 7.85 s instead of 28.4 s, 3.6 times as fast. */
	cr_expect(found.parallel.low <= 2.6 && found.parallel.high >= 2.6);
	cr_expect_float_eq(found.parallel.gain, 2.6, 0.5);
}

static const struct row TFRP[] = {
	{"Root", NONE, 80, 6048, 2, -1, 0, 0, 0, 2},
	{"Prefetch", 0, 80, 6047, 6047, 3, 0, 0, 1, 0, true},
	{"MapAndBatch", 1, 80, 7794, 7794, 48, 0, 2, 0, 0, true},
	{"ParallelInterleaveV4", 2, 1280, 2609, 2609, 1595, 0, 4},
	{"FlatMap", 3, 1280, 27740, 47, -1},
	{"TFRecord", 4, 1280, 27693, 27693, 315, 27507},
	{"+DecodeJpeg", NONE, 1280, 4315, 4315, 2501},
};

Test(stages, an_interleave_whose_threads_are_all_at_work)
{
	JUDGE(TFRP, 77, 22);
	cr_expect_eq(found.limit, STAGE_LIMIT_WORK);
	cr_expect_str_eq(lead_name(), "TFRecord");
	cr_expect_eq(found.asked, 4);
	cr_expect_float_eq(found.at_once, 3.55, 0.1);
	cr_expect(isnan(found.parallel.gain));
}

static const struct row AUG[] = {
	{"Root", NONE, 40, 9038, 8, -1, 0, 0, 0, 2},
	{"Prefetch", 0, 40, 9030, 9030, 2, 0, 0, 1, 0, true},
	{"MapAndBatch", 1, 40, 9899, 9899, 25, 0, 2, 0, 0, true},
	{"ParallelMapV2", 2, 640, 1993, 1993, 52, 0, 2, 0, 0, true},
	{"Shuffle", 3, 640, 9, 9, -1, 0, 0, 160},
	{"+ReadFile", NONE, 640, 231, 231, 98, 164},
	{"+DecodeJpeg", NONE, 640, 2709, 2709, 1235},
	{"+AdjustHue", NONE, 3840, 9352, 9352, 3986},
};

Test(stages, an_augmentation)
{
	JUDGE(AUG, 227, 26);
	cr_expect_eq(found.limit, STAGE_LIMIT_WORK);
	cr_expect_str_eq(slow_name(), "MapAndBatch");
	cr_expect_str_eq(lead_name(), "AdjustHue");
	cr_expect(found.lead_share >= 0.7);
	cr_expect_float_eq(found.each_ns, 2.44 * MS, 0.01 * MS);
	cr_expect_eq(found.asked, -1);
	cr_expect(!found.is_reading);
	/* The steps of 26 ms limit the gain. */
	cr_expect(found.cheaper.gain > 0.3 && found.cheaper.high <= 253 / 26.0 - 1);
}

static const struct row GEN[] = {
	{"Root", NONE, 20, 4658, 15, -1, 0, 0, 0, 2},
	{"Prefetch", 0, 20, 4643, 4643, 1, 0, 0, 2},
	{"BatchV2", 1, 20, 5084, 452, -1},
	{"FlatMap", 2, 320, 4632, 61, -1},
	{"Generator", 3, 320, 4571, 4571, 31},
	{"+PyFunc", NONE, 323, 3981, 3981, 459},
};

Test(stages, a_generator)
{
	JUDGE(GEN, 233, 22);
	cr_expect_eq(found.limit, STAGE_LIMIT_SERIAL);
	cr_expect_str_eq(lead_name(), "Generator");
	cr_expect_eq(list[found.lead].kind, STAGE_PYTHON);
	cr_expect(found.lead_share >= 0.85);
	cr_expect(found.cheaper.gain > 0);
	/* It sleeps, and holds the interpreter for a tenth of its time: several would gain. */
	cr_expect(found.is_waiting);
	cr_expect_float_eq(found.blocked_share, 0.89, 0.01);
	cr_expect(found.parallel.gain > 0.5 && found.parallel.low == 0);
	/* More calls at once gain nothing if Python computes: an interpreter runs one thread. */
	{
		struct row computes[sizeof(GEN) / sizeof(GEN[0])];

		memcpy(computes, GEN, sizeof(GEN));
		computes[5].cpu = computes[5].own;
		JUDGE(computes, 233, 22);
		cr_expect(!found.is_waiting && isnan(found.parallel.gain));
	}
	/* Nor if the steps may hold the interpreter meanwhile. */
	JUDGE(GEN, 233, 300);
	cr_expect(!found.is_waiting && isnan(found.parallel.gain));
}

static const struct row NOPRE[] = {
	{"Root", NONE, 40, 2608, 3, -1, 0, 0, 0, 2},
	{"BatchV2", 0, 40, 2606, 10, 12},
	{"ParallelMapV2", 1, 640, 2596, 2596, 12, 0, 2, 0, 0, true},
	{"Shuffle", 2, 640, 9, 9, -1, 0, 0, 160},
	{"+ReadFile", NONE, 640, 116, 116, 70, 71},
	{"+DecodeJpeg", NONE, 640, 2398, 2398, 1236},
	{"+ResizeBilinear", NONE, 640, 493, 493, 291},
};

/* Measured: with prefetch() behind it the pipeline is no faster (0.99 times and 0.96 times). */
Test(stages, a_parallel_map_at_the_end_loads_ahead)
{
	struct row rows[sizeof(NOPRE) / sizeof(NOPRE[0])];

	memcpy(rows, NOPRE, sizeof(NOPRE));
	rows[1].name = "FiniteRepeat";
	rows[2].name = "MapAndBatch";
	JUDGE(rows, 65, 80);
	cr_expect(found.is_prefetched && isnan(found.prefetch.gain));
	cr_expect_eq(found.limit, STAGE_LIMIT_WORK);
}

Test(stages, nothing_is_loaded_ahead)
{
	/* The step is long enough to hide all of the loading. */
	JUDGE(NOPRE, 65, 80);
	cr_expect_eq(found.limit, STAGE_LIMIT_PREFETCH);
	cr_expect(!found.is_prefetched);
	cr_expect_str_eq(lead_name(), "DecodeJpeg");
	cr_expect_float_eq(found.prefetch.high, 145 / 80.0 - 1, 0.01);
	cr_expect_eq(found.prefetch.low, 0, "nothing shows that cores are idle");
	/* The training and the loads leave most of both cores idle. */
	used_cores = 0.8;
	JUDGE(NOPRE, 65, 80);
	cr_expect_float_eq(found.prefetch.gain, 145 / 80.0 - 1, 0.01);
	cr_expect_float_eq(found.prefetch.low, found.prefetch.gain / 2, 0.01);
	/* They use all cores that other programs leave free. */
	used_cores = free_cores = 1.4;
	JUDGE(NOPRE, 65, 80);
	cr_expect_float_eq(found.prefetch.gain, sqrt(2 / 1.4) - 1, 0.01);
	cr_expect_float_eq(found.prefetch.high, 2 / 1.4 - 1, 0.01);
	cr_expect_eq(found.prefetch.low, 0);
	used_cores = NAN, free_cores = 2;
	/* A short step hides little: decoding is the limit. */
	JUDGE(NOPRE, 65, 20);
	cr_expect_eq(found.limit, STAGE_LIMIT_WORK);
	cr_expect_float_eq(found.prefetch.high, 85 / 65.0 - 1, 0.01);
}

Test(stages, what_is_not_known_is_not_said)
{
	static const struct row rootless[] = {{"MapAndBatch", NONE, 40, 2606, 2606, 12}};
	static const struct row alone[] = {{"Root", NONE, 40, 2606, 2606, 12}};

	JUDGE(rootless, 65, 20);
	cr_expect_eq(found.limit, STAGE_LIMIT_UNKNOWN);
	JUDGE(alone, 65, 20);
	cr_expect_eq(found.limit, STAGE_LIMIT_UNKNOWN);
	JUDGE(NOPRE, NAN, 20);
	cr_expect_eq(found.limit, STAGE_LIMIT_UNKNOWN);
	judge(NULL, 0, 65, 20);
	cr_expect_eq(found.limit, STAGE_LIMIT_UNKNOWN);
}

static const struct row OPERATORS[] = {
	{"Launch", 1, 27, 19, 19, 19},
	{"PopOutputs", NONE, 26, 17775, 17775, 2, 0, 0, 0, 0, false},
	{"ConsumerWait", 1, 27, 18, 18, -1},
	{"DataReader", 2, 28, 43, 1, -1},
	{"+ReadOne", 3, 448, 43, 43, 40, 3},
	{"+readers__File", 1, 27, 133, 133, -1},
	{"+decoders__Image", 1, 27, 4738, 4738, 892},
	{"+Resize", 1, 27, 14129, 14129, 2},
};

Test(stages, operators_of_dali_run_in_turn)
{
	used_cores = 0.9;
	JUDGE(OPERATORS, 660, 24);
	cr_expect_eq(found.limit, STAGE_LIMIT_WORK);
	cr_expect_eq(found.maker, STAGES_DALI);
	cr_expect_str_eq(lead_name(), "Resize");
	cr_expect_float_eq(found.lead_share, 0.74, 0.01);
	cr_expect_float_eq(found.each_ns, 523 * MS, MS);
	/* One of two cores is free: at best twice as fast. */
	cr_expect_float_eq(found.parallel.high, 2 / 0.9 - 1, 0.01);
	cr_expect_eq(found.parallel.low, 0);
	/* A Python operator uses one core only. */
	free_cores = 2;
	{
		struct row python[sizeof(OPERATORS) / sizeof(OPERATORS[0])];

		memcpy(python, OPERATORS, sizeof(OPERATORS));
		python[7].name = "+DLTensorPythonFunctionImpl";
		JUDGE(python, 660, 24);
		cr_expect(isnan(found.parallel.gain));
	}
	/* Other programs have the second core: more threads gain nothing. */
	free_cores = 1;
	JUDGE(OPERATORS, 660, 24);
	cr_expect(isnan(found.parallel.gain));
	cr_expect(found.cheaper.gain > 0);
}

static const struct row READER[] = {
	{"PopOutputs", NONE, 23, 25815, 25815, 1},
	{"ConsumerWait", 0, 24, 16063, 16063, 1},
	{"DataReader", 1, 25, 27874, 3, -1},
	{"+ReadOne", 2, 400, 27871, 27871, 127, 27842},
	{"+decoders__Image", 0, 24, 3056, 3056, 7},
	{"+Resize", 0, 24, 8313, 8313, 2},
};

Test(stages, a_reader_of_dali_has_one_thread)
{
	JUDGE(READER, 1050, 24);
	cr_expect_eq(found.limit, STAGE_LIMIT_SERIAL);
	cr_expect_str_eq(slow_name(), "DataReader");
	cr_expect_str_eq(lead_name(), "ReadOne");
	cr_expect(found.is_reading);
	cr_expect_eq(found.wanted, 2);
	/* Measured with two readers: 3.31 s instead of 6.64 s. */
	cr_expect(found.parallel.low <= 1 && found.parallel.high >= 0.99);
	/* Operators that take nearly as long limit a faster reader, but not two pipelines. */
	{
		struct row close[sizeof(READER) / sizeof(READER[0])];

		memcpy(close, READER, sizeof(READER));
		close[5].own = close[5].busy = 12900;
		JUDGE(close, 1050, 24);
		cr_expect_str_eq(lead_name(), "ReadOne");
		cr_expect_float_eq(found.parallel.high, 1, 0.01);
		cr_expect_float_eq(found.cheaper.high, 27874 / 15956.0 - 1, 0.01);
	}
}

/* Two readers and the operators are busy nearly all the time: the readers are the limit. */
Test(stages, operators_of_dali_are_no_faster_than_the_readers)
{
	static struct row both[] = {
		{"RunCPU", NONE, 41, 23900, 23900, 1},
		{"ConsumerWait", 0, 84, 2930, 2930, 1},
		{"DataReader", 1, 86, 46700, 3, -1},
		{"+ReadOne", 2, 688, 46700, 46700, 140, 46600},
		{"+decoders__Image", 0, 84, 3470, 3470, 20},
		{"+Resize", 0, 84, 14900, 14900, 2},
	};

	JUDGE(both, 563, 20);
	cr_expect_str_eq(lead_name(), "ReadOne");
	cr_expect_eq(found.wanted, 4);
	cr_expect_float_eq(found.parallel.high, 1, 0.01);
	/* All cores are used: a second pipeline gets no more of them. */
	used_cores = 1.6;
	JUDGE(both, 563, 20);
	cr_expect_float_eq(found.parallel.high, 1 / (0.8 * 583 * 41 / 23350) - 1, 0.01);
	used_cores = NAN;
	/* The operators take a little longer than the readers: faster operators gain a little. */
	both[2].busy = 34000;
	both[1].busy = 1000;
	JUDGE(both, 563, 20);
	cr_expect_str_eq(lead_name(), "Resize");
	cr_expect_float_eq(found.cheaper.high, 19370 / 17000.0 - 1, 0.05);
	/* One of two readers is much slower than the other, and the operators wait for it. */
	both[1].busy = 6000;
	JUDGE(both, 563, 20);
	cr_expect_str_eq(lead_name(), "ReadOne");
	/* Readers that wait for the operators limit nothing. */
	both[1].busy = 1000;
	both[2].busy = 400;
	JUDGE(both, 563, 20);
	cr_expect_gt(found.cheaper.high, 1);
}

static const struct row CALLBACK[] = {
	{"Launch", 1, 42, 63, 63, 41},
	{"PopOutputs", NONE, 41, 299, 299, 1},
	{"+Resize", 1, 42, 2212, 2212, 3},
};

Test(stages, an_external_source_of_dali_is_the_training_threads)
{
	JUDGE(CALLBACK, 42, 25);
	cr_expect_eq(found.limit, STAGE_LIMIT_WORK);
	cr_expect_float_eq(found.callback_share, 0.79, 0.01);
	cr_expect_str_eq(lead_name(), "PopOutputs");
	cr_expect(found.parallel.gain > 0);
	cr_expect(isnan(found.cheaper.gain));
}

/* Kernels took 6.8 s beside 1 s of their stage, since they also ran when nothing waited for it. */
Test(stages, no_more_calls_run_at_once_than_the_pool_has_threads)
{
	static const struct row hidden[] = {
		{"Root", NONE, 80, 300, 8, -1, 0, 0, 0, 2},
		{"Prefetch", 0, 80, 292, 292, 3, 0, 0, 4},
		{"MapAndBatch", 1, 80, 1000, 1000, 53, 0, 2, 0, 0, true},
		{"+DecodeJpeg", NONE, 1280, 6800, 6800, 6700},
	};

	JUDGE(hidden, 4, 20);
	cr_expect_str_eq(lead_name(), "DecodeJpeg");
	cr_expect_float_eq(found.at_once, 2, 0.01);
}

/* Each call reads 10 ms; the pool has two threads, so that at most two calls run at once. */
Test(stages, calls_of_a_sequential_map)
{
	static struct row reads[] = {
		{"Root", NONE, 80, 4560, 8, -1, 0, 0, 0, 2},
		{"Prefetch", 0, 80, 4552, 4552, 3, 0, 0, 2},
		{"Batch", 1, 80, 5400, 200, 150},
		{"Map", 2, 640, 5200, 5200, 150},
		{"+ReadFile", NONE, 640, 4900, 4900, 60, 4800},
	};

	JUDGE(reads, 57, 10);
	cr_expect_eq(found.limit, STAGE_LIMIT_SERIAL);
	cr_expect_str_eq(lead_name(), "ReadFile");
	/* Calls that wait need no core, but a thread: both are said. */
	cr_expect_eq(found.wanted, 16);
	cr_expect(found.parallel.gain >= 5 && found.parallel.low == 0);
	/* Python that waits is like a read; Python that computes has one interpreter. */
	reads[4].name = "+PyFunc";
	JUDGE(reads, 57, 10);
	cr_expect(found.is_waiting && found.parallel.gain >= 5);
	reads[4].read = 0;
	reads[4].cpu = 3000;
	JUDGE(reads, 57, 10);
	cr_expect(!found.is_waiting && isnan(found.parallel.gain));
	reads[4].cpu = -1;
	JUDGE(reads, 57, 10);
	cr_expect(!found.is_waiting && isnan(found.parallel.gain));
	reads[4].read = 4800;
	reads[4].cpu = 60;
	/* TensorFlow has joined map() and batch(); the program asked for one call at a time. */
	reads[4].name = "+ReadFile";
	reads[2].name = "MapAndBatch";
	reads[2].own = reads[2].busy;
	reads[2].parallel = 1;
	reads[3] = (struct row){"Range", 2, 640, 3, 3, 3};
	JUDGE(reads, 57, 10);
	cr_expect_eq(found.limit, STAGE_LIMIT_SERIAL);
	cr_expect_gt(found.parallel.gain, 0);
	/* The kernel also ran while nothing waited: still one call at a time. */
	reads[4].own *= 2;
	JUDGE(reads, 20, 40);
	cr_expect_eq(found.limit, STAGE_LIMIT_SERIAL);
	/* Two calls fill the pool of two threads. */
	reads[2].parallel = 2;
	JUDGE(reads, 57, 10);
	cr_expect_eq(found.limit, STAGE_LIMIT_POOL);
	cr_expect_eq(found.wanted, 16);
	/* They leave most of a pool of eight idle. */
	reads[0].threads = 8;
	JUDGE(reads, 57, 10);
	cr_expect_eq(found.limit, STAGE_LIMIT_WORK);
	cr_expect_eq(found.wanted, 8);
	cr_expect(found.parallel.gain > 1 && found.parallel.low == 0);
	/* More calls that compute gain nothing without idle cores. */
	reads[4].cpu = reads[4].own;
	used_cores = 1.9;
	JUDGE(reads, 57, 10);
	cr_expect(isnan(found.parallel.gain));
	used_cores = 1;
	JUDGE(reads, 57, 10);
	used_cores = NAN;
	cr_expect(found.parallel.gain >= 0);
}

static struct row cached[] = {
	{"Root", NONE, 160, 4000, 8, -1, 0, 0, 0, 2},
	{"Prefetch", 0, 160, 3992, 3992, 3, 0, 0, 2},
	{"BatchV2", 1, 160, 4100, 100, 80},
	{"MemoryCacheImpl", 2, 1280, 4000, 20, 10},
	{"ParallelMapV2", 3, 1280, 3980, 3980, 150, 0, 2, 0, 0, true},
	{"TensorSlice", 4, 1280, 8, 8, 8},
	{"+DecodeJpeg", NONE, 1280, 7900, 7900, 7600},
	{"MemoryCache", 2, 1280, 4001, 1, 1},
};

Test(stages, a_cache_whose_input_makes_all_elements_in_each_epoch)
{
	longest_epoch = 0.25;
	JUDGE(cached, 25, 5);
	cr_expect_str_eq(slow_name(), "ParallelMapV2");
	cr_expect_str_eq(lead_name(), "DecodeJpeg");
	cr_assert_eq(found.cache, 3);
	cr_expect_eq(found.endless, STAGE_NOWHERE);
	/* A full cache serves three of four epochs: 25 / 4 ms a batch instead of 30, at best 5. */
	cr_expect_float_eq(found.cached.gain, 30 / 7.5 - 1, 0.3);
	cr_expect_float_eq(found.cached.high, 30 / 5.0 - 1, 0.01);
	cr_expect_eq(found.cached.low, 0);
	/* A run of one epoch only fills the cache. */
	longest_epoch = 1;
	JUDGE(cached, 25, 5);
	cr_expect_eq(found.cache, STAGE_NOWHERE);
	/* The cache served three of four epochs. */
	longest_epoch = 0.25;
	cached[4].elements = 330;
	JUDGE(cached, 25, 5);
	cached[4].elements = 1280;
	cr_expect_eq(found.cache, STAGE_NOWHERE);
	cr_expect(isnan(found.cached.gain));
	/* The stage that limits comes after the cache. */
	cached[4].parent = 1;
	JUDGE(cached, 25, 5);
	cached[4].parent = 3;
	cr_expect_eq(found.cache, STAGE_NOWHERE);
}

Test(stages, a_cache_that_the_first_epoch_fills)
{
	longest_epoch = 0.25;
	cached[4].elements = 330;
	first_ms = 98;
	later_ms = 0.6;
	JUDGE(cached, 25, 5);
	cr_expect_eq(found.limit, STAGE_LIMIT_FILLING);
	cr_assert_eq(found.cache, 3);
	cr_expect_str_eq(lead_name(), "DecodeJpeg");
	cr_expect(isnan(found.cheaper.gain) && isnan(found.cached.gain));
	cr_expect_float_eq(found.kept.high, 30 / 5.6 - 1, 0.01);
	cr_expect(found.kept.low == 0 && found.kept.gain < found.kept.high);
	/* Later epochs wait too, but for another stage than the first one. */
	later_ms = 10;
	JUDGE(cached, 25, 5);
	cr_expect(found.is_served);
	cr_expect_neq(found.limit, STAGE_LIMIT_FILLING);
	cr_expect(isnan(found.cheaper.gain) && isnan(found.kept.gain));
	/* Most elements were made anew in later epochs. */
	later_ms = 0.6;
	cached[4].elements = 800;
	JUDGE(cached, 25, 5);
	cr_expect(!found.is_served && found.limit == STAGE_LIMIT_WORK && found.cheaper.gain > 0);
	cached[4].elements = 1280;
	first_ms = later_ms = NAN;
}

Test(stages, a_cache_that_is_never_full)
{
	struct row rows[9];

	memcpy(rows, cached, sizeof(cached));
	rows[4].parent = 8;
	rows[8] = (struct row){"ForeverRepeat", 3, 1280, 3990, 5, -1};
	JUDGE(rows, 25, 5);
	cr_assert_eq(found.cache, 3);
	cr_expect_eq(found.endless, 8);
	cr_expect(found.cached.gain > 0 && found.cached.gain < found.cached.high);
	/* take() may end the repetition, so that the cache gets full. */
	rows[8].name = "FiniteTake";
	JUDGE(rows, 25, 5);
	cr_expect_eq(found.cache, STAGE_NOWHERE);
}

/* In a damaged file stages may feed each other in a circle. */
Test(stages, circles_end)
{
	static const struct row circle[] = {
		{"Root", 2, 40, 100, 0, -1},
		{"Prefetch", 0, 40, 100, 0, -1},
		{"BatchV2", 1, 40, 100, 0, -1},
	};

	JUDGE(circle, 65, 20);
	cr_expect_lt(found.limit, STAGE_LIMIT_MAX);
}

Test(stages, kinds_of_names)
{
	cr_expect_eq(stage_kind_of("ParallelInterleaveV4", false), STAGE_INTERLEAVE);
	cr_expect_eq(stage_kind_of("MapAndBatch", false), STAGE_BATCH);
	cr_expect_eq(stage_kind_of("MemoryCacheImpl", false), STAGE_CACHE);
	cr_expect_eq(stage_kind_of("DecodeJpeg", true), STAGE_DECODE);
	cr_expect_eq(stage_kind_of("DLTensorPythonFunctionImpl", true), STAGE_PYTHON);
	cr_expect_eq(stage_kind_of("AdjustHue", true), STAGE_TRANSFORM);
	cr_expect_eq(stage_kind_of("Unheard", false), STAGE_OTHER);
	for (int kind = 0; kind < STAGE_KIND_MAX; kind++)
		cr_expect_eq((int)stage_kind_find(stage_kind_names[kind]), kind);
	cr_expect_eq(stage_kind_find("nonsense"), STAGE_OTHER);
}
