/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which causes get which part of the waiting, in series whose causes are known. */
#include <criterion/criterion.h>
#include <math.h>

#include "analysis/cause/cause.h"
#include "analysis/cause/lines.h"
#include "model.h"

#define MS 1e6

/* Times in ms. wait > handover: the batch was not ready; queued: others waited behind it. */
struct row {
	double wait, handover, step, load;
	bool queued;
};

static void add(int epoch, int batch, const struct row *from)
{
	struct batch_row row = BATCH_ROW_UNKNOWN;

	row.epoch = epoch;
	row.batch = batch;
	row.wait_ns = (int64_t)(from->wait * MS);
	row.handover_ns = (int64_t)(from->handover * MS);
	row.compute_ns = (int64_t)(from->step * MS);
	if (from->load > 0)
		row.load_ns = (int64_t)(from->load * MS);
	row.worker = batch % 4;
	row.head_ready = from->wait <= from->handover;
	row.qdepth = from->queued;
	cr_assert_eq(series_append(&series, &row), 0);
}

static void start_series(void)
{
	series_init(&series);
	series.workers = 4;
	series.prefetch_factor = 2;
	series.in_order = 1;
}

static void diagnose(const struct cause_input *input)
{
	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, input, &diagnosis), 0);
}

static double seconds_of(enum cause cause)
{
	for (size_t i = 0; i < diagnosis.cause_count; i++)
		if (diagnosis.causes[i].cause == cause)
			return diagnosis.causes[i].ns / 1e9;
	return 0;
}

static bool is_advised(enum advice_id id)
{
	for (size_t i = 0; i < diagnosis.advice.count; i++)
		if (diagnosis.advice.steps[i].id == id)
			return true;
	return false;
}

/* Most of the waiting is receiving, which two late batches do not hide. */
Test(causes, the_largest_is_the_cause)
{
	start_series();
	for (int i = 0; i < 300; i++)
		add(0, i,
		    &(struct row){i == 100 || i == 200 ? 1000 : 80, i == 100 || i == 200 ? 1 : 80,
				  20, 50, false});
	diagnose(NULL);
	cr_assert_eq(diagnosis.cause, CAUSE_DELIVERY, "%s", cause_names[diagnosis.cause]);
	cr_expect_float_eq(seconds_of(CAUSE_DELIVERY), 294 * 0.08 + 0.002, 0.01);
	cr_expect_float_eq(seconds_of(CAUSE_ISOLATED_STALL), 2 * 0.999, 0.01);
	cr_expect_eq(diagnosis.second, CAUSE_UNKNOWN);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_INSPECT_WAITS);
	series_done(&series);
}

/* Pauses cost more than the starts of epochs: first beside much waiting, then beside moderate. */
Test(causes, pauses_of_the_training_lead_where_it_does_not_mostly_wait)
{
	for (int far = 0; far < 2; far++) {
		start_series();
		for (int epoch = 0; epoch < 6; epoch++)
			for (int i = 0; i < 100; i++)
				add(epoch, i,
				    &(struct row){i     ? 1
						  : far ? 1000
							: 5000,
						  1, i % 50 == 49 ? 4000 : 50, 50, false});
		diagnose(NULL);
		cr_expect(finding.starved);
		cr_expect_eq(diagnosis.cause, far ? CAUSE_MAIN_THREAD_PERIODIC : CAUSE_EPOCH_START,
			     "%d: %s", far, cause_names[diagnosis.cause]);
		cr_expect_eq(diagnosis.causes[1].cause,
			     far ? CAUSE_EPOCH_START : CAUSE_MAIN_THREAD_PERIODIC);
		cr_expect_eq(diagnosis.second, far ? CAUSE_UNKNOWN : CAUSE_MAIN_THREAD_PERIODIC);
		series_done(&series);
	}
}

/* Saving is the cause of long steps if it takes what they are longer than others. */
Test(causes, saving_is_named_where_it_is_what_long_steps_are_made_of)
{
	for (int share = 0; share < 2; share++) {
		struct step_parts step = {.is_split = true, .has_optimizer = true};
		const struct cause_input input = {.step = &step};

		start_series();
		for (int i = 0; i < 400; i++)
			add(0, i, &(struct row){1, 1, i % 20 == 19 ? 288 : 125, 50, false});
		step.whole_ns = (380 * 125 + 20 * 288) * MS;
		step.ns[STEP_SAVE] = 20 * (share ? 160 : 20) * MS;
		diagnose(&input);
		cr_expect_eq(diagnosis.cause, share ? CAUSE_SAVING : CAUSE_MAIN_THREAD_PERIODIC,
			     "%d: %s", share, cause_names[diagnosis.cause]);
		cr_expect_eq(diagnosis.cause_count, 1, "%d: %zu", share, diagnosis.cause_count);
		cr_expect(is_advised(ADVICE_REDUCE_MAIN_THREAD_EVENT));
		series_done(&series);
	}
}

/* A line after the optimizer takes most time; with a GPU it may only wait for the GPU. */
Test(causes, a_line_after_the_optimizer_is_named_where_it_does_not_wait_for_a_gpu)
{
	struct line_share line = {.share = 0.5, .error = 0.05, .of_function = 0.9};
	struct line_share other = {.share = 0.6, .error = 0.05, .is_own = true};
	struct lines lines = {.groups = {[LINE_AFTERS] = {&line, 1, 300, 1e9},
					 [LINE_STEPS] = {&other, 1, 300, 1e9}}};
	struct step_parts step = {.is_split = true, .has_optimizer = true, .whole_ns = 40e9};
	struct cause_input input = {.step = &step, .lines = &lines};

	step.ns[STEP_AFTER] = 8e9;
	for (int has_gpu = 0; has_gpu < 2; has_gpu++) {
		start_series();
		for (int i = 0; i < 400; i++)
			add(0, i, &(struct row){1, 1, 100, 50, false});
		input.has_gpu = has_gpu;
		diagnose(&input);
		cr_expect_eq(diagnosis.cause, has_gpu ? CAUSE_NONE : CAUSE_LOGGING, "%s",
			     cause_names[diagnosis.cause]);
		/* The cause has the time of the line's whole function. */
		cr_expect(has_gpu || fabs(diagnosis.causes[0].ns - 0.9 * 8e9) < 1);
		/* The remedy of the cause goes before another line of the steps. */
		cr_expect_eq(diagnosis.advice.steps[0].id,
			     has_gpu ? ADVICE_CHEAPER_STEP : ADVICE_REDUCE_MAIN_THREAD_EVENT);
		cr_expect(is_advised(ADVICE_CHEAPER_STEP));
		series_done(&series);
	}
}

/* A line's share is of the time between epochs, too, if any line was sampled there. */
Test(causes, a_line_after_the_optimizer_keeps_its_time_beside_another_between_epochs)
{
	struct line_share line = {.share = 0.5, .of_function = 0.5};
	struct lines lines = {.groups = {[LINE_AFTERS] = {&line, 1, 300, 1e9}}};
	struct step_parts step = {.is_split = true, .has_optimizer = true, .whole_ns = 40e9,
				  .ns = {[STEP_AFTER] = 16e9}, .between_epochs_ns = 8e9};

	for (int has_gaps = 0; has_gaps < 2; has_gaps++) {
		start_series();
		for (int i = 0; i < 400; i++)
			add(0, i, &(struct row){1, 1, 100, 50, false});
		lines.groups[LINE_AFTERS].has_gaps = has_gaps;
		diagnose(&(struct cause_input){.step = &step, .lines = &lines});
		cr_expect_eq(diagnosis.cause, CAUSE_LOGGING);
		cr_expect_float_eq(seconds_of(CAUSE_LOGGING), has_gaps ? 8 : 4, 1e-6);
		series_done(&series);
	}
}

/* Another thread that is in Python in 20 % of the steps is a cause where no GPU is waited for. */
Test(causes, a_thread_that_holds_the_interpreter_in_steps)
{
	struct line_share line = {.is_own = true};
	struct lines lines = {.holders = {[LINE_STEPS] = {&line, 1, 400, 20e9}}};

	for (int lacks = 0; lacks < 5; lacks++) {
		start_series();
		for (int i = 0; i < 400; i++)
			add(0, i, &(struct row){1, 1, 100, 50, false});
		line.share = lacks == 1 ? 0.12 : 0.2;
		lines.holders[LINE_STEPS].samples = lacks == 2 ? 29 : 400;
		lines.python_share = lacks == 4 ? 0.04 : lacks ? 0.06 : NAN;
		lines.awaited_share = 0.1;
		diagnose(&(struct cause_input){.lines = &lines, .has_gpu = lacks == 3});
		cr_expect_eq(diagnosis.cause, lacks ? CAUSE_NONE : CAUSE_STEPS_HELD, "%d: %s",
			     lacks, cause_names[diagnosis.cause]);
		cr_expect_eq(diagnosis.advice.steps[0].id,
			     lacks ? ADVICE_NONE : ADVICE_MOVE_OUT_OF_PROCESS, "%d", lacks);
		/* The steps take nearly all of the time: 1 / (1 - 0.2) = 1.25. */
		cr_expect(lacks || fabs(diagnosis.advice.steps[0].gain - 0.25) < 0.01);
		/* At least what was waited, 1 / (1 - 0.1); at most the share with its error. */
		cr_expect(lacks || fabs(diagnosis.advice.steps[0].low - 0.11) < 0.005);
		cr_expect(lacks || (diagnosis.advice.steps[0].high > 0.27 &&
				    diagnosis.advice.steps[0].high < 0.35));
		series_done(&series);
	}
}

/* With a GPU only waiting counts, and no more than the GPU idles for want of work. */
Test(causes, a_thread_that_holds_the_interpreter_beside_a_gpu)
{
	static const struct {
		double awaited, idle, share;
	} given[] = {{0.25, 0.3, 0.25}, {0.25, 0.2, 0.2}, {0.25, NAN, 0}, {0.1, 0.3, 0}};
	struct line_share line = {.share = 0.6};
	struct lines lines = {.holders = {[LINE_STEPS] = {&line, 1, 400, 20e9}},
			      .python_share = 0.3};

	for (size_t k = 0; k < ARRAY_COUNT(given); k++) {
		const struct gpu_use gpu = {.is_known = true, .lack_share = given[k].idle};

		start_series();
		for (int i = 0; i < 400; i++) {
			struct batch_row row = BATCH_ROW_UNKNOWN;

			row.batch = i;
			row.wait_ns = row.gpu_idle_ns = 1000000;
			row.compute_ns = 100000000;
			row.gpu_busy_ns = 60000000;
			cr_assert_eq(series_append(&series, &row), 0);
		}
		lines.awaited_share = given[k].awaited;
		diagnose(&(struct cause_input){.lines = &lines, .gpu = &gpu, .has_gpu = true});
		cr_assert(finding.by_gpu);
		cr_expect_float_eq(diagnosis.grounds.steps_held.share, given[k].share, 1e-12);
		cr_expect_eq(diagnosis.cause == CAUSE_STEPS_HELD, given[k].share > 0, "%zu", k);
		cr_expect(!(given[k].share > 0) ||
			  diagnosis.advice.steps[0].low < diagnosis.advice.steps[0].gain);
		series_done(&series);
	}
}

/* What waits gain without that thread is not known, so the steps' gain alone is not told. */
Test(causes, a_thread_that_holds_the_interpreter_in_waits_and_steps)
{
	struct line_share waits = {.share = 0.9}, steps = {.share = 0.2};
	const struct lines lines = {.holders = {[LINE_WAITS] = {&waits, 1, 400, 20e9},
						[LINE_STEPS] = {&steps, 1, 400, 20e9}}};

	start_series();
	for (int i = 0; i < 400; i++)
		add(0, i, &(struct row){80, 80, 20, 50, false});
	diagnose(&(struct cause_input){.lines = &lines});
	cr_expect_eq(diagnosis.cause, CAUSE_INTERPRETER_HELD, "%s", cause_names[diagnosis.cause]);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_MOVE_OUT_OF_PROCESS);
	cr_expect(isnan(diagnosis.advice.steps[0].gain));
	series_done(&series);
}

/* A line with 60 % (+- 5) of the steps is the cause if the waiting is at most moderate. */
Test(causes, a_line_of_the_step_is_named_where_it_takes_more_than_moderate_waiting)
{
	struct line_share line = {.share = 0.6, .error = 0.05, .is_own = true};
	struct lines lines = {.groups = {[LINE_STEPS] = {&line, 1, 300, 1e9}}};
	struct step_parts step = {.is_split = true};
	const struct {
		double wait_ms, share;
		bool is_split, has_gpu;
		enum cause cause;
	} cases[] = {
		{10, 0.6, false, false, CAUSE_STEP_LINE},
		{10, 0.6, true, false, CAUSE_DELIVERY},
		{10, 0.6, false, true, CAUSE_DELIVERY},
		{10, 0.14, false, false, CAUSE_DELIVERY},
		{10, 0.95, false, false, CAUSE_DELIVERY},
		{40, 0.6, false, false, CAUSE_DELIVERY},
		{1, 0.6, false, false, CAUSE_NONE},
	};

	for (size_t k = 0; k < ARRAY_COUNT(cases); k++) {
		const struct cause_input input = {.step = cases[k].is_split ? &step : NULL,
						  .lines = &lines,
						  .has_gpu = cases[k].has_gpu};

		line.share = cases[k].share;
		start_series();
		for (int i = 0; i < 400; i++)
			add(0, i, &(struct row){cases[k].wait_ms, cases[k].wait_ms, 90, 50, false});
		diagnose(&input);
		cr_expect_eq(diagnosis.cause, cases[k].cause, "%zu: %s", k,
			     cause_names[diagnosis.cause]);
		series_done(&series);
	}
}

/* Every fourth step is long, since it runs the optimizer: that is no pause of the training. */
Test(causes, accumulated_gradients_are_no_pause)
{
	for (int every = 4; every <= 40; every += 36) {
		start_series();
		for (int i = 0; i < 400; i++)
			add(0, i,
			    &(struct row){1, 1, i % every == every - 1 ? 30.0 * every : 10, 10,
					  false});
		diagnose(NULL);
		cr_expect_eq(diagnosis.compute.batches, every);
		cr_expect_eq(diagnosis.cause, every == 4 ? CAUSE_NONE : CAUSE_MAIN_THREAD_PERIODIC,
			     "%d: %s", every, cause_names[diagnosis.cause]);
		series_done(&series);
	}
}

/* All of the waiting is given to causes, and none of it twice, whatever the causes are. */
Test(causes, share_out_all_of_the_waiting)
{
	struct model models[] = {HEALTHY, HEALTHY, HEALTHY, HEALTHY, HEALTHY, HEALTHY};

	models[0].load = 800;
	models[1].load = 500;
	models[1].slow_worker = 2;
	models[1].slow_factor = 3;
	models[2].rare_share = 0.03;
	models[2].rare_factor = 12;
	models[3].every = 30;
	models[3].rare_factor = 14;
	models[4].burst = true;
	models[4].load = 250;
	models[5].epochs = 4;
	models[5].load = 300;
	models[5].cold_factor = 4;
	for (size_t m = 0; m < sizeof(models) / sizeof(*models); m++) {
		double sum = 0;

		model_diagnose(&models[m]);
		cr_assert(finding.starved, "%zu", m);
		for (size_t i = 0; i < diagnosis.cause_count; i++) {
			sum += diagnosis.causes[i].ns;
			cr_expect(!i || diagnosis.causes[i].ns <= diagnosis.causes[i - 1].ns);
		}
		/* Causes with less than 1 % of the time are not listed. */
		cr_expect_leq(sum, finding.account.wait_ns * (1 + 1e-6));
		cr_expect_geq(sum, finding.account.wait_ns - 0.04 * finding.account.time_ns,
			      "%zu: %g of %g", m, sum, finding.account.wait_ns);
		cr_expect_eq(diagnosis.cause, diagnosis.causes[0].cause);
		cr_expect_neq(diagnosis.advice.steps[0].id, ADVICE_NONE);
		series_done(&series);
	}
}

/* Runs workers of which those in the bits of `slow` take `factor` times as long for a load. */
static void run_crew(int workers, unsigned slow, double factor, const struct slow_work *work)
{
	double idle[16] = {0}, delivered[32] = {0}, now = 0;

	start_series();
	series.workers = workers;
	for (int i = 0; i < 800; i++) {
		double load = 20 * workers * (0.95 + 0.1 * model_random_share());
		struct batch_row row = BATCH_ROW_UNKNOWN;
		double *end = &idle[i % workers], request = now;

		if (slow >> i % workers & 1)
			load *= factor;
		*end = fmax(*end, delivered[i % (2 * workers)]) + load;
		now = fmax(now, *end) + 0.5;
		delivered[i % (2 * workers)] = now;
		row.batch = i;
		row.worker = i % workers;
		row.wait_ns = (int64_t)((now - request) * MS);
		row.handover_ns = (int64_t)(0.5 * MS);
		row.head_ready = *end <= request;
		row.compute_ns = (int64_t)(50 * MS);
		row.load_ns = (int64_t)(load * MS);
		row.qdepth = 1;
		now += 50;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	diagnose(&(struct cause_input){.work = work});
}

Test(slow, several_workers_can_be)
{
	run_crew(8, 0x0f, 4, NULL);
	cr_expect_eq(diagnosis.cause, CAUSE_SLOW_WORKER, "%s", cause_names[diagnosis.cause]);
	cr_assert_eq(diagnosis.slow.count, 4);
	cr_expect_eq(diagnosis.slow.list[3], 3);
	series_done(&series);
	run_crew(8, 0x06, 4, NULL);
	cr_assert_eq(diagnosis.slow.count, 2);
	cr_expect_eq(diagnosis.slow.list[0], 1);
	cr_expect_eq(diagnosis.slow.list[1], 2);
	cr_expect_float_eq(diagnosis.slow.factor, 4, 0.3);
	cr_expect_eq(diagnosis.cause, CAUSE_SLOW_WORKER);
	series_done(&series);
}

/* Slow samples at every second index all go to the same workers: no worker is slow. */
Test(slow, what_follows_the_index_is_no_worker)
{
	static struct slow_work work;

	run_crew(8, 0xaa, 4, NULL);
	cr_expect_eq(diagnosis.slow.worker, -1);
	cr_expect_eq(diagnosis.slow.every, 2);
	cr_expect_neq(diagnosis.cause, CAUSE_SLOW_WORKER, "%s", cause_names[diagnosis.cause]);
	cr_expect(is_advised(ADVICE_BALANCE_LOADS) || diagnosis.cause == CAUSE_LOADER_CAPACITY);
	series_done(&series);
	/* One worker of four is slow: it is slow itself unless it reads more bytes for a load. */
	for (int reads_more = 0; reads_more < 2; reads_more++) {
		for (int w = 0; w < 4; w++) {
			work.loads[w] = w == 2 && !reads_more ? 800 : 200;
			work.bytes[w] = w == 2 ? 8e8 : 2e8;
		}
		run_crew(4, 0x04, 6, &work);
		cr_expect_eq(diagnosis.slow.worker, reads_more ? -1 : 2);
		cr_expect_eq(diagnosis.slow.every, reads_more ? 4 : 0);
		series_done(&series);
	}
	/* Every second worker is slow, and reads no more than the others: the workers are slow. */
	for (int w = 0; w < 8; w++) {
		work.loads[w] = 100;
		work.bytes[w] = 1e8;
	}
	run_crew(8, 0xaa, 4, &work);
	cr_expect_eq(diagnosis.slow.count, 4);
	series_done(&series);
}

/* Loads that get longer for good, as with storage whose credit is used up, are no stalls. */
Test(causes, loads_that_get_longer_for_good)
{
	double idle[4] = {0}, delivered[8] = {0}, now = 0;

	start_series();
	for (int i = 0; i < 2000; i++) {
		double load = (i < 1500 ? 100 : 600) * (0.9 + 0.2 * model_random_share());
		double *end = &idle[i % 4], request = now;
		struct row row = {0, 0.5, 100, load, false};

		*end = fmax(*end, delivered[i % 8]) + load;
		now = fmax(now, *end) + 0.5;
		delivered[i % 8] = now;
		row.wait = now - request;
		now += 100;
		add(0, i, &row);
	}
	diagnose(NULL);
	cr_expect(finding.rho < 0.9, "%g", finding.rho);
	cr_expect_eq(diagnosis.cause, CAUSE_LOADER_CAPACITY, "%s", cause_names[diagnosis.cause]);
	cr_expect(diagnosis.shift.at > 1400 && diagnosis.shift.at < 1600, "%zu",
		  diagnosis.shift.at);
	series_done(&series);
}

/* Samples sorted within each 40 batches: loads grow and fall back, but no shard is opened. */
Test(causes, samples_sorted_by_size_are_no_shards)
{
	double idle[4] = {0}, delivered[8] = {0}, now = 0;

	start_series();
	for (int i = 0; i < 2000; i++) {
		double load = 60 + 15 * (i % 40);
		double *end = &idle[i % 4], request = now;
		struct row row = {0, 0.5, 100, load, false};

		*end = fmax(*end, delivered[i % 8]) + load;
		now = fmax(now, *end) + 0.5;
		delivered[i % 8] = now;
		row.wait = now - request;
		now += 100;
		add(0, i, &row);
	}
	diagnose(NULL);
	cr_expect_eq(diagnosis.load.batches, 40);
	cr_expect(finding.starved);
	cr_expect_neq(diagnosis.cause, CAUSE_PERIODIC_SLOW_LOAD);
	cr_expect_not(is_advised(ADVICE_SMOOTH_SHARD_OPENING));
	series_done(&series);
}

/* The storage is no cause where reading is a small part of the loads. */
Test(advice, storage_is_blamed_only_where_reading_takes_time)
{
	struct model m = HEALTHY;

	m.burst = true;
	m.spread = 0.05;
	m.load = 150;
	m.batches = 3000;
	for (int reads = 0; reads < 2; reads++) {
		const struct load_times loads = {
			.load_ns = 1, .read_ns = reads ? 0.3 : 0.1, .cpu_ns = 0.5};

		model_run(&m);
		diagnose(&(struct cause_input){.loads = &loads});
		cr_assert_eq(diagnosis.cause, CAUSE_INTERMITTENT_LOADER);
		cr_expect_eq(is_advised(ADVICE_STORAGE), reads);
		series_done(&series);
	}
}

/* Short waits beside steps of 2 ms are the loader's even if nothing is known of the loader. */
Test(split, short_waits_for_an_unknown_loader_are_its_own)
{
	series_init(&series);
	for (int i = 0; i < 200; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.batch = i;
		row.wait_ns = 500000;
		row.compute_ns = 2000000;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	diagnose(NULL);
	cr_expect(finding.starved);
	cr_expect_eq(finding.starved_count, 0);
	cr_expect_eq(diagnosis.cause, CAUSE_UNSEEN_LOADER);
	cr_expect(is_advised(ADVICE_MARK_LOADS));
	series_done(&series);
}
