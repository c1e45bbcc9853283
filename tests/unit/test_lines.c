/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which line of code a stack belongs to, a line's share of the time, and the share's error.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/cause/diagnosis.h"
#include "analysis/cause/lines.h"

#define EACH_NS LINE_LEAST_NS

/* Frames of the stacks below, by their places in FRAMES. */
enum { MAIN, COLLATE, SAMPLER, FETCH, NEXT, SELECT, METRICS, TENSOR, OPEN, LISTCOMP, SHARER,
       LOOP_1, LOOP_2, LOOP_3, LOOP_4, WEIGHTED, INDEX, POLL, ZIP, ITEM, ITEMS, BACK };

static struct line_frame FRAMES[] = {
	[WEIGHTED] = {"/v/site-packages/torch/sampler.py", "Weighted.__iter__", 277, false, true},
	[INDEX] = {.file = "/v/site-packages/torch/dataloader.py", .function = "Iter._next_index",
		   .line = 540, .does = LINE_CHOOSES, .is_waiter = true},
	[POLL] = {.file = "/usr/lib/python3.11/selectors.py", .function = "poll", .line = 416,
		  .is_waiter = true},
	[MAIN] = {"/w/train.py", "main", 41, true, false},
	[COLLATE] = {"/w/train.py", "collate", 12, true, false},
	[SAMPLER] = {"/w/sampler.py", "Balanced.__iter__", 27, true, false},
	[FETCH] = {"/v/site-packages/torch/fetch.py", "fetch", 52, .does = LINE_FETCHES},
	[NEXT] = {"/v/site-packages/torch/dataloader.py", "Iter.__next__", 600, false, true},
	[SELECT] = {"/usr/lib/python3.11/selectors.py", "select", 415, false, false},
	[METRICS] = {"/w/train.py", "metrics", 15, true, false},
	[TENSOR] = {"/v/site-packages/torch/_tensor.py", "__torch_function__", 31, false, false},
	[LISTCOMP] = {"/w/train.py", "collate.<listcomp>", 12, true, false},
	[OPEN] = {"/v/site-packages/PIL/Image.py", "open", 3000, false, false},
	[SHARER] = {.file = "/usr/lib/python3.11/multiprocessing/resource_sharer.py",
		    .function = "DupFd.detach", .line = 57, .does = LINE_SHARES},
	[ZIP] = {.file = "/usr/lib/python3.11/zipfile.py", .function = "ZipFile.__init__",
		 .line = 1300, .does = LINE_MAKES},
	[ITEM] = {.file = "/w/train.py", .function = "Data.__getitem__", .line = 9,
		  .does = LINE_GETS_ITEM},
	[ITEMS] = {.file = "/w/train.py", .function = "Data.__getitems__", .line = 5,
		   .does = LINE_GETS_ITEMS},
	[BACK] = {.file = "/v/site-packages/torch/autograd/graph.py",
		  .function = "_engine_run_backward", .line = 869, .does = LINE_GOES_BACK},
	[LOOP_1] = {"/w/train.py", "augment", 71, true, false},
	[LOOP_2] = {"/w/train.py", "augment", 72, true, false},
	[LOOP_3] = {"/w/train.py", "augment", 73, true, false},
	[LOOP_4] = {"/w/other.py", "augment", 71, true, false},
};

/* A stack sample; its frames, the innermost first, end with -1. */
struct row {
	enum line_role role;
	enum line_phase phase;
	int64_t loader_id, count;
	int frames[5];
};

struct given {
	struct line_stack stacks[16];
	uint32_t places[80];
	struct line_samples samples;
};

static void give(struct given *given, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct line_stack *stack = &given->stacks[i];

		*stack = (struct line_stack){rows[i].role,
					     rows[i].phase,
					     rows[i].loader_id,
					     rows[i].count,
					     rows[i].count * EACH_NS,
					     &given->places[5 * i],
					     0};
		while (stack->depth < 5 && rows[i].frames[stack->depth] >= 0) {
			given->places[5 * i + stack->depth] =
				(uint32_t)rows[i].frames[stack->depth];
			stack->depth++;
		}
	}
	given->samples = (struct line_samples){.frames = FRAMES,
					       .frame_count = sizeof(FRAMES) / sizeof(*FRAMES),
					       .stacks = given->stacks,
					       .stack_count = count};
}

#define FIND(rows, loader_id, lines)                                                               \
	struct given given;                                                                        \
	give(&given, rows, sizeof(rows) / sizeof(*(rows)));                                        \
	cr_assert_eq(lines_find(&given.samples, loader_id, lines), 0)

Test(lines, whose_a_file_is)
{
	static const char *const own[] = {
		"/home/me/train.py",       "train.py",      "/home/me/lib/python3_course/train.py",
		"/home/me/bin/eval.py",    "<stdin>",       "<ipython-input-3-5a1f>",
		"/tmp/ipykernel_7/1.py",   "/lib/train.py", "/home/me/binary/train",
		"/home/me/pytorch/run.py",
	};
	static const char *const foreign[] = {
		"/v/lib/python3.11/site-packages/torch/_tensor.py",
		"/usr/lib/python3/dist-packages/numpy/core.py",
		"/usr/lib/python3.11/selectors.py",
		"/opt/conda/lib/python3.13t/queue.py",
		"/usr/lib64/python3.9/threading.py",
		"/usr/lib/python311.zip/os.py",
		"<frozen importlib._bootstrap>", "<__array_function__ internals>",
		"<string>",
		"/usr/local/bin/torchrun", "",
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		cr_expect(lines_is_own(own[i]), "%s", own[i]);
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		cr_expect(!lines_is_own(foreign[i]), "%s", foreign[i]);
	cr_expect(lines_is_iterator("__next__") && lines_is_iterator("A.<locals>.B.__iter__"));
	cr_expect(lines_is_maker("ZipFile.__init__") && lines_is_maker("connect"));
	cr_expect(!lines_is_maker("__init_subclass__") && !lines_is_maker("connect.<locals>.f"));
	cr_expect(!lines_is_iterator("next") && !lines_is_iterator("__iter__.<locals>.step"));
}

Test(lines, a_class_of_the_users_around_a_loader_without_workers_loads_nothing)
{
	const struct row rows[] = {
		{LINE_ROLE_MAIN, LINE_LOAD, 1, 60, {OPEN, FETCH, SAMPLER, NEXT, -1}}};
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_expect_eq(lines.groups[LINE_LOADS].lines[0].frame, OPEN);
	lines_done(&lines);
}

Test(lines, the_innermost_line_of_the_user_leads)
{
	const struct row rows[] = {
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 60, {TENSOR, COLLATE, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 20, {COLLATE, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 20, {OPEN, FETCH, -1}},
		{LINE_ROLE_MAIN, LINE_STEP, 1, 50, {TENSOR, MAIN, -1}},
	};
	const struct line_share *line;
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_assert_eq(lines.groups[LINE_LOADS].samples, 100);
	cr_assert_eq(lines.groups[LINE_LOADS].count, 2);
	line = &lines.groups[LINE_LOADS].lines[0];
	cr_expect_eq(line->frame, COLLATE);
	cr_expect_eq(line->inner, TENSOR);
	cr_expect_eq(line->count, 80);
	cr_expect_eq(line->role, LINE_ROLE_WORKER);
	cr_expect_float_eq(line->share, 0.8, 1e-12);
	cr_expect_float_eq(line->inner_share, 0.75, 1e-12);
	cr_expect_float_eq(lines_function_share(&lines, true), 0.8, 1e-12);
	cr_expect_eq(lines_function_share(&lines, false), 0, "its calls of Python take most of it");
	cr_expect_eq(lines.groups[LINE_LOADS].lines[1].frame, OPEN,
		     "a library's, where no line is own");
	cr_expect_eq(lines.groups[LINE_STEPS].lines[0].frame, MAIN);
	cr_expect_eq(lines.groups[LINE_WAITS].count, 0);
	lines_done(&lines);
}

Test(lines, a_comprehension_belongs_to_its_line)
{
	const struct row rows[] = {
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 30, {LISTCOMP, LISTCOMP, COLLATE, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 20, {TENSOR, LISTCOMP, COLLATE, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 50, {COLLATE, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 10, {METRICS, COLLATE, FETCH, -1}},
	};
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_assert_eq(lines.groups[LINE_LOADS].count, 2);
	cr_expect_eq(lines.groups[LINE_LOADS].lines[0].frame, COLLATE);
	cr_expect_eq(lines.groups[LINE_LOADS].lines[0].count, 100);
	lines_done(&lines);
}

Test(lines, a_load_in_the_main_thread_is_not_its_loop)
{
	const struct row rows[] = {
		{LINE_ROLE_MAIN, LINE_LOAD, 1, 30, {TENSOR, FETCH, NEXT, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_LOAD, 1, 20, {COLLATE, FETCH, NEXT, MAIN, -1}},
	};
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_assert_eq(lines.groups[LINE_LOADS].count, 2);
	cr_expect_eq(lines.groups[LINE_LOADS].lines[0].frame, TENSOR);
	cr_expect_eq(lines.groups[LINE_LOADS].lines[1].frame, COLLATE);
	cr_expect(!lines.groups[LINE_LOADS].lines[0].is_loop);
	lines_done(&lines);
}

Test(lines, the_loop_that_waits_is_told_from_what_it_waits_for)
{
	const struct row rows[] = {
		{LINE_ROLE_MAIN, LINE_NOT_READY, 1, 40, {SELECT, NEXT, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_RECEIVING, 1, 20, {TENSOR, NEXT, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_SAMPLING, 1, 39, {SAMPLER, FETCH, NEXT, MAIN, -1}},
		/* A loader that the user wrote, without a library's iterator. */
		{LINE_ROLE_MAIN, LINE_NOT_READY, 1, 1, {SELECT, METRICS, MAIN, -1}},
	};
	const struct line_lead *waits;
	struct lines lines;

	FIND(rows, 1, &lines);
	waits = &lines.groups[LINE_WAITS];
	cr_assert_eq(waits->count, 3);
	cr_expect_eq(waits->lines[0].frame, MAIN);
	cr_expect(waits->lines[0].is_loop);
	cr_expect_eq(waits->lines[0].inner, SELECT);
	cr_expect_eq(waits->lines[1].frame, SAMPLER);
	cr_expect(!waits->lines[1].is_loop);
	cr_expect_eq(waits->lines[2].frame, METRICS);
	cr_expect(!waits->lines[2].is_loop);
	lines_done(&lines);
}

Test(lines, samples_of_other_loaders_are_left_out)
{
	const struct row rows[] = {
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 10, {COLLATE, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 2, 70, {OPEN, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 0, 20, {TENSOR, -1}},
		{LINE_ROLE_MAIN, LINE_STEP, 1, 5, {MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_STEP, 0, 5, {METRICS, -1}},
	};
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_expect_eq(lines.groups[LINE_LOADS].samples, 10, "whose 20 of them are is not known");
	cr_expect_eq(lines.groups[LINE_STEPS].samples, 10, "no other loader has any");
	lines_done(&lines);
	cr_assert_eq(lines_find(&given.samples, 0, &lines), 0);
	cr_expect_eq(lines.groups[LINE_LOADS].samples, 100);
	lines_done(&lines);
}

Test(lines, who_holds_the_interpreter_has_shares_of_the_main_threads_time)
{
	const struct row rows[] = {
		{LINE_ROLE_MAIN, LINE_RECEIVING, 1, 80, {SELECT, NEXT, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_NOT_READY, 1, 20, {SELECT, NEXT, MAIN, -1}},
		{LINE_ROLE_THREAD, LINE_RECEIVING, 1, 60, {METRICS, -1}},
		{LINE_ROLE_THREAD, LINE_STEP, 1, 5, {METRICS, -1}},
		/* A worker has its own interpreter, and so waits for no other thread's. */
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 900, {COLLATE, -1}},
		{LINE_ROLE_MAIN, LINE_LOAD, 1, 10, {COLLATE, -1}},
		{LINE_ROLE_THREAD, LINE_LOAD, 1, 5, {METRICS, -1}},
	};
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_expect_eq(lines.groups[LINE_WAITS].samples, 100, "no holders among those that wait");
	cr_expect_eq(lines.holders[LINE_WAITS].samples, 100);
	cr_assert_eq(lines.holders[LINE_WAITS].count, 1);
	cr_expect_eq(lines.holders[LINE_WAITS].lines[0].frame, METRICS);
	cr_expect_float_eq(lines.holders[LINE_WAITS].lines[0].share, 0.6, 1e-12,
			   "not of its own 60");
	cr_expect_float_eq(lines.holders[LINE_LOADS].lines[0].share, 0.5, 1e-12);
	cr_expect_eq(lines.holders[LINE_STEPS].samples, 0, "there is no step to hold up");
	cr_expect(isnan(lines.holders[LINE_STEPS].lines[0].error));
	lines_done(&lines);
}

/* Of 100 samples of steps, 60 are held up, 20 of them waiting; in 10 of the other 40 main holds. */
Test(lines, steps_that_wait_for_the_interpreter_or_hold_it)
{
	const struct row rows[] = {
		{LINE_ROLE_MAIN, LINE_STEP, 1, 70, {MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_AFTER, 1, 30, {MAIN, -1}},
		{LINE_ROLE_THREAD, LINE_STEP, 1, 40, {METRICS, -1}},
		{LINE_ROLE_HOLDER, LINE_AFTER, 1, 20, {METRICS, -1}},
		{LINE_ROLE_PYTHON, LINE_STEP, 1, 10, {MAIN, -1}},
	};
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_expect_float_eq(lines.awaited_share, 0.2, 1e-12);
	cr_expect_float_eq(lines.python_share, 0.25, 1e-12);
	cr_expect_eq(lines.groups[LINE_STEPS].samples, 100, "each sample once");
	cr_expect_eq(lines.holders[LINE_STEPS].samples, 100);
	cr_expect_float_eq(lines.holders[LINE_STEPS].lines[0].share, 0.6, 1e-12);
	cr_expect_eq(lines.holders[LINE_STEPS].lines[0].role, LINE_ROLE_THREAD, "in both cases");
	lines_done(&lines);
}

Test(lines, what_old_recordings_do_not_tell_of_the_interpreter)
{
	const struct row rows[] = {
		{LINE_ROLE_MAIN, LINE_STEP, 1, 70, {MAIN, -1}},
		{LINE_ROLE_THREAD, LINE_STEP, 1, 40, {METRICS, -1}},
	};
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_expect_eq(lines.awaited_share, 0);
	cr_expect(isnan(lines.python_share));
	lines_done(&lines);
}

/* Returns Kish's effective number of samples with these weights. */
static double kish(const double *weights, size_t count)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < count; i++) {
		sum += weights[i];
		squares += weights[i] * weights[i];
	}
	return sum * sum / squares;
}

Test(lines, the_effective_count_is_never_too_large)
{
	const double least = (double)LINE_LEAST_NS, most = (double)LINE_MOST_NS;
	double weights[200], ns;
	unsigned int seed = 7;

	for (int turn = 0; turn < 2000; turn++) {
		size_t count = 1 + (size_t)rand_r(&seed) % 200;
		bool is_at_limits = turn % 2;
		double found;

		ns = 0;
		for (size_t i = 0; i < count; i++) {
			double part = (double)rand_r(&seed) / RAND_MAX;

			weights[i] = least + (is_at_limits ? rint(part) : part) * (most - least);
			ns += weights[i];
		}
		found = lines_effective_count((int64_t)count, ns);
		cr_assert_leq(found, kish(weights, count) * (1 + 1e-9), "%d", turn);
		if (is_at_limits)
			cr_assert_float_eq(found / kish(weights, count), 1, 1e-6, "%d", turn);
	}
	cr_expect_float_eq(lines_effective_count(100, 100 * least), 100, 1e-6);
	cr_expect_float_eq(lines_effective_count(100, 100 * most), 100, 1e-6);
	/* With impossible weights, of a damaged file, there are no more than all samples. */
	cr_expect_leq(lines_effective_count(100, 1), 100 + 1e-6);
	cr_expect_leq(lines_effective_count(100, 1e30), 100 + 1e-6);
	cr_expect_eq(lines_effective_count(0, 5), 0);
	cr_expect_eq(lines_effective_count(5, 0), 0);
}

Test(lines, the_error_holds_in_95_of_100_runs)
{
	static const double shares[] = {0.02, 0.1, 0.5, 0.8, 0.95, 0.99};
	static const int counts[] = {20, 30, 100, 600};
	unsigned int seed = 11;

	for (size_t i = 0; i < 6; i++)
		for (size_t j = 0; j < 4; j++) {
			int held = 0;

			for (int run = 0; run < 4000; run++) {
				int hits = 0;
				double share;

				for (int k = 0; k < counts[j]; k++)
					hits += rand_r(&seed) < shares[i] * RAND_MAX;
				share = (double)hits / counts[j];
				held += fabs(share - shares[i]) <= lines_error(share, counts[j]);
			}
			cr_expect_geq(held, 3760, "%g of %d samples: %d of 4000", shares[i],
				      counts[j], held);
		}
	cr_expect_gt(lines_error(1, 20), 0.1, "20 of 20 are no certainty");
	cr_expect_gt(lines_error(0, 20), 0.1);
	cr_expect_float_eq(lines_error(0.8, 600), 0.034, 0.001);
	cr_expect(isnan(lines_error(0.5, 0)));
}

Test(lines, nothing_and_numbers_that_cannot_be)
{
	const struct row rows[] = {
		{LINE_ROLE_MAIN, LINE_STEP, 1, INT64_C(1) << 20, {MAIN, -1}},
		{LINE_ROLE_THREAD, LINE_STEP, 1, INT64_C(1) << 30, {METRICS, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 3, {COLLATE, -1}},
	};
	struct line_samples none = {0};
	struct lines lines;

	cr_assert_eq(lines_find(&none, 1, &lines), 0);
	for (int group = 0; group < LINE_GROUP_MAX; group++)
		cr_expect(!lines.groups[group].count && !lines.holders[group].count);
	lines_done(&lines);
	FIND(rows, 1, &lines);
	cr_expect_eq(lines.holders[LINE_STEPS].lines[0].share, 1, "no more than all");
	lines_done(&lines);
	given.stacks[2].ns = 0;
	cr_assert_eq(lines_find(&given.samples, 1, &lines), 0);
	cr_expect_eq(lines.groups[LINE_LOADS].lines[0].share, 0);
	cr_expect_eq(lines.groups[LINE_LOADS].lines[0].inner, COLLATE,
		     "not the first of all frames");
	cr_expect_eq(lines.groups[LINE_LOADS].lines[0].role, LINE_ROLE_WORKER);
	lines_done(&lines);
}

/* Time in a wrapper of C, as NumPy's sum(), is the user's arithmetic. */
Test(lines, a_wrapper_of_c_is_no_call_of_python)
{
	const struct row rows[] = {
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 80, {TENSOR, COLLATE, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 20, {OPEN, FETCH, -1}},
	};
	struct lines lines;

	FRAMES[TENSOR].does = LINE_WRAPS;
	FIND(rows, 1, &lines);
	FRAMES[TENSOR].does = 0;
	cr_expect_float_eq(lines_function_share(&lines, false), 0.8, 1e-12);
	lines_done(&lines);
}

/* Returns the frame named beside a cause, plus 100 if it holds the interpreter; -1: none. */
static int named(const struct lines *lines, enum cause cause, double pauses)
{
	struct diagnosis diagnosis = {
		.cause = cause, .cause_count = 1, .causes = {{cause, pauses, 0}}};
	struct finding finding = {.account = {.step_ns = 1}};
	struct line_named ret;

	if (!lines_name(lines, &finding, &diagnosis, &ret))
		return -1;
	return (int)ret.line->frame + (ret.is_holder ? 100 : 0);
}

Test(lines, a_cause_has_the_line_of_its_time)
{
	const struct row rows[] = {
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 80, {TENSOR, COLLATE, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 20, {OPEN, FETCH, -1}},
		{LINE_ROLE_THREAD, LINE_LOAD, 1, 99, {METRICS, -1}},
		{LINE_ROLE_MAIN, LINE_NOT_READY, 1, 60, {SELECT, NEXT, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_SAMPLING, 1, 40, {SAMPLER, NEXT, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_STEP, 1, 80, {TENSOR, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_STEP, 1, 20, {OPEN, -1}},
	};
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_expect_eq(named(&lines, CAUSE_LOADER_CAPACITY, 0), COLLATE,
		     "workers do not wait for others");
	cr_expect_eq(named(&lines, CAUSE_DELIVERY, 0), SAMPLER, "not the loop");
	cr_expect_eq(named(&lines, CAUSE_NONE, 0), MAIN);
	cr_expect_eq(named(&lines, CAUSE_MAIN_THREAD_PERIODIC, 0.8), MAIN);
	cr_expect_eq(named(&lines, CAUSE_MAIN_THREAD_PERIODIC, 0.3), -1);
	cr_expect_eq(named(&lines, CAUSE_ISOLATED_STALL, 0), -1);
	cr_expect_eq(named(&lines, CAUSE_UNKNOWN, 0), -1);
	lines_done(&lines);
}

/* A line with a fifth of the steps is not named beside another cause. */
Test(lines, a_line_of_the_step_is_named_where_it_is_the_cause)
{
	struct line_share line = {.frame = MAIN, .share = 0.2, .error = 0.03, .is_own = true};
	struct line_share holder = {.frame = METRICS, .share = 0.9};
	struct lines lines = {.groups = {[LINE_STEPS] = {&line, 1, 300, 1e9}}};

	cr_expect_eq(named(&lines, CAUSE_NONE, 0), -1);
	cr_expect_eq(named(&lines, CAUSE_STEP_LINE, 0), MAIN);
	lines.holders[LINE_STEPS] = (struct line_lead){&holder, 1, 300, 1e9};
	cr_expect_eq(named(&lines, CAUSE_STEP_LINE, 0), MAIN);
	line.is_own = false;
	cr_expect_eq(lines_of_step(&lines, 0), NULL, "a library's line");
}

/* PyTorch's line of the backward pass gives way to a fifth that the user's own function takes. */
Test(lines, the_users_own_function_goes_before_the_backward_pass)
{
	struct line_share shares[] = {
		{.frame = OPEN, .share = 0.6, .error = 0.05},
		{.frame = MAIN, .share = 0.15, .of_function = 0.3, .function_error = 0.05,
		 .is_own = true},
	};
	struct lines lines = {.groups = {[LINE_STEPS] = {shares, 2, 300, 1e9}}};

	cr_expect_eq(named(&lines, CAUSE_NONE, 0), MAIN);
	shares[1].of_function = 0.24;
	cr_expect_eq(named(&lines, CAUSE_NONE, 0), OPEN);
}

/* The loop's line is in each stack, but the innermost frames tell what the loop waits for. */
Test(lines, a_loop_that_waits_for_a_sampler_has_the_samplers_line)
{
	struct row rows[] = {
		{LINE_ROLE_MAIN, LINE_EPOCH_START, 1, 80, {WEIGHTED, INDEX, NEXT, LOOP_1, -1}},
		{LINE_ROLE_MAIN, LINE_NOT_READY, 1, 17, {POLL, NEXT, LOOP_1, -1}},
		/* Another line of the same function, not within the loader, and so no loop. */
		{LINE_ROLE_MAIN, LINE_EPOCH_END, 1, 3, {LOOP_2, -1}},
	};
	const struct line_lead *waits;
	struct lines lines;

	FIND(rows, 1, &lines);
	waits = &lines.groups[LINE_WAITS];
	cr_assert_eq(waits->lines[1].frame, LOOP_2);
	cr_expect_float_eq(waits->lines[1].of_function, 0.03, 1e-9, "no loop's time");
	cr_expect_eq(lines.within.lines[0].frame, WEIGHTED);
	cr_expect_float_eq(lines.within.lines[0].share, 0.8, 1e-9);
	cr_expect_eq(named(&lines, CAUSE_SAMPLER, 0), WEIGHTED);
	cr_expect_eq(named(&lines, CAUSE_EPOCH_START, 0), WEIGHTED);
	cr_expect_eq(named(&lines, CAUSE_DELIVERY, 0), -1);
	cr_expect_eq(lines.most_sampling, 1);
	cr_expect_gt(lines.least_sampling, 0.5);
	lines_done(&lines);

	rows[0].count = 20;
	rows[1].count = 77;
	rows[1].phase = LINE_EPOCH_START;
	give(&given, rows, sizeof(rows) / sizeof(*rows));
	cr_assert_eq(lines_find(&given.samples, 1, &lines), 0);
	cr_expect_eq(named(&lines, CAUSE_EPOCH_START, 0), -1, "waiting explains nothing");
	cr_expect_gt(lines.most_sampling, 20.0 / 97);
	cr_expect_lt(lines.most_sampling, 0.45);
	lines_done(&lines);
}

/* A loop in Python none of whose lines takes much more than the others. */
Test(lines, a_function_may_lead_with_none_of_its_lines)
{
	struct row rows[] = {
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 24, {LOOP_1, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 22, {LOOP_2, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 20, {LOOP_3, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 25, {LOOP_4, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 9, {OPEN, FETCH, -1}},
	};
	const struct line_share *line;
	struct lines lines;

	FIND(rows, 1, &lines);
	line = &lines.groups[LINE_LOADS].lines[1];
	cr_expect_eq(line->frame, LOOP_1);
	cr_expect_float_eq(line->share, 0.24, 1e-9);
	cr_expect_float_eq(line->of_function, 0.66, 1e-9, "a function of that name in one file");
	cr_expect_gt(line->function_error, line->error);
	cr_expect_eq(named(&lines, CAUSE_LOADER_CAPACITY, 0), LOOP_1);
	lines_done(&lines);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		rows[i].role = LINE_ROLE_MAIN;
		rows[i].phase = LINE_STEP;
		rows[i].frames[1] = LOOP_3;
	}
	rows[4].count = 3;
	give(&given, rows, sizeof(rows) / sizeof(*rows));
	cr_assert_eq(lines_find(&given.samples, 1, &lines), 0);
	cr_expect_eq(named(&lines, CAUSE_NONE, 0), -1, "a loop over batches is a function, too");
	lines_done(&lines);
}

/* Of a step, the line to begin with is that of the longest function which is only a part of it. */
Test(lines, a_function_of_the_step)
{
	struct row rows[] = {
		{LINE_ROLE_MAIN, LINE_STEP, 1, 36, {BACK, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_STEP, 1, 20, {LOOP_1, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_STEP, 1, 16, {LOOP_2, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_STEP, 1, 22, {METRICS, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_STEP, 1, 6, {BACK, LOOP_3, MAIN, -1}},
	};
	const struct line_lead *steps;
	struct lines lines;

	FIND(rows, 1, &lines);
	steps = &lines.groups[LINE_STEPS];
	cr_expect_eq(steps->lines[0].frame, MAIN);
	cr_expect(steps->lines[0].is_backward);
	cr_expect_float_eq(steps->lines[0].of_function, 0.36, 1e-9);
	cr_expect_eq(steps->lines[1].frame, METRICS);
	cr_expect_eq(steps->lines[2].frame, LOOP_1);
	cr_expect_float_eq(steps->lines[2].of_function, 0.36, 1e-9, "not the backward pass");
	cr_expect_eq(lines_of_function(steps), &steps->lines[2]);
	cr_expect_eq(named(&lines, CAUSE_NONE, 0), LOOP_1);
	lines_done(&lines);
}

/* A line that calls a library's whole training loop does not tell what a step does. */
Test(lines, a_library_that_runs_the_loop)
{
	struct row rows[] = {
		{LINE_ROLE_MAIN, LINE_STEP, 1, 60, {TENSOR, FETCH, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_STEP, 1, 40, {TENSOR, METRICS, FETCH, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_RECEIVING, 1, 9, {SELECT, NEXT, FETCH, MAIN, -1}},
	};
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_expect_eq(lines.groups[LINE_STEPS].lines[0].frame, TENSOR);
	cr_expect_eq(lines.groups[LINE_STEPS].lines[1].frame, METRICS);
	lines_done(&lines);
	rows[2] = (struct row){LINE_ROLE_MAIN, LINE_RECEIVING, 1, 9, {SELECT, NEXT, MAIN, -1}};
	for (size_t i = 0; i < sizeof(FRAMES) / sizeof(FRAMES[0]); i++)
		FRAMES[i].is_around = false;
	give(&given, rows, 3);
	cr_assert_eq(lines_find(&given.samples, 1, &lines), 0);
	cr_expect_eq(lines.groups[LINE_STEPS].lines[0].frame, MAIN, "a loop of its own");
	lines_done(&lines);
}

/* A constructor that calls the loader is not called by a load, and makes nothing in it. */
Test(lines, what_is_made_in_loads)
{
	struct row rows[] = {
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 60, {TENSOR, ZIP, COLLATE, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 40, {COLLATE, FETCH, -1}},
		{LINE_ROLE_MAIN, LINE_STEP, 1, 90, {ZIP, MAIN, -1}},
		{LINE_ROLE_THREAD, LINE_LOAD, 1, 50, {COLLATE, -1}},
	};
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_expect_float_eq(lines.making_share, 0.6, 1e-9);
	cr_expect(lines.making_error > 0.05 && lines.making_error < 0.12);
	lines_done(&lines);
	rows[0] = (struct row){LINE_ROLE_MAIN, LINE_LOAD, 1, 60, {COLLATE, NEXT, ZIP, -1}};
	give(&given, rows, 2);
	cr_assert_eq(lines_find(&given.samples, 1, &lines), 0);
	cr_expect_leq(lines.making_share, 0);
	lines_done(&lines);
	give(&given, rows + 2, 2);
	cr_assert_eq(lines_find(&given.samples, 1, &lines), 0);
	cr_expect(isnan(lines.making_share), "no load was sampled");
	lines_done(&lines);
}

/* A dataset with __getitems__ does not make its samples one by one. */
Test(lines, samples_that_are_made_one_by_one)
{
	struct row rows[] = {
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 60, {TENSOR, ITEM, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 40, {COLLATE, FETCH, -1}},
	};
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_expect_lt(lines.single_share, 0.6);
	cr_expect_gt(lines.single_share, 0.48);
	lines_done(&lines);
	rows[0] = (struct row){LINE_ROLE_WORKER, LINE_LOAD, 1, 60, {ITEM, ITEMS, FETCH, -1}};
	give(&given, rows, 2);
	cr_assert_eq(lines_find(&given.samples, 1, &lines), 0);
	cr_expect_leq(lines.single_share, 0);
	lines_done(&lines);
}

/* A worker hands over a descriptor only when its load releases the interpreter. */
Test(lines, a_wait_for_a_workers_answer_has_the_line_of_its_loads)
{
	struct row rows[] = {
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 80, {TENSOR, COLLATE, FETCH, -1}},
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 20, {OPEN, FETCH, -1}},
		{LINE_ROLE_MAIN, LINE_RECEIVING, 1, 60, {SELECT, SHARER, NEXT, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_RECEIVING, 1, 40, {SELECT, NEXT, MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_NOT_READY, 1, 300, {SELECT, NEXT, MAIN, -1}},
	};
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_expect_float_eq(lines.asking_share, 0.6, 1e-9);
	cr_expect_eq(named(&lines, CAUSE_DELIVERY, 0), COLLATE);
	lines_done(&lines);
	rows[3].count = 70;
	give(&given, rows, 4);
	cr_assert_eq(lines_find(&given.samples, 1, &lines), 0);
	cr_expect_eq(named(&lines, CAUSE_DELIVERY, 0), -1, "most of them wait for something else");
	cr_expect_eq(named(&lines, CAUSE_WORKER_INTERPRETER, 0), COLLATE, "it was counted");
	lines_done(&lines);
}

Test(lines, no_line_is_named_without_evidence)
{
	const struct row rows[] = {
		{LINE_ROLE_WORKER, LINE_LOAD, 1, 29, {COLLATE, -1}},
		{LINE_ROLE_MAIN, LINE_STEP, 1, 30, {METRICS, -1}},
		{LINE_ROLE_MAIN, LINE_STEP, 1, 70, {MAIN, -1}},
		{LINE_ROLE_MAIN, LINE_NOT_READY, 1, 100, {SELECT, NEXT, MAIN, -1}},
		{LINE_ROLE_THREAD, LINE_NOT_READY, 1, 52, {METRICS, -1}},
	};
	struct lines lines;

	FIND(rows, 1, &lines);
	cr_expect_eq(named(&lines, CAUSE_LOADER_CAPACITY, 0), -1, "29 samples");
	cr_expect_eq(named(&lines, CAUSE_DELIVERY, 0), -1, "52 % +- 10 may be less than half");
	lines_done(&lines);
	given.stacks[0].count = 30;
	given.stacks[0].ns = 30 * EACH_NS;
	given.stacks[4].count = 90;
	given.stacks[4].ns = 90 * EACH_NS;
	given.stacks[2].count = 10;
	given.stacks[2].ns = 10 * EACH_NS;
	cr_assert_eq(lines_find(&given.samples, 1, &lines), 0);
	cr_expect_eq(named(&lines, CAUSE_LOADER_CAPACITY, 0), COLLATE);
	cr_expect_eq(named(&lines, CAUSE_DELIVERY, 0), 100 + METRICS);
	cr_expect_eq(named(&lines, CAUSE_NONE, 0), METRICS);
	lines_done(&lines);
}
