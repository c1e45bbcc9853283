/* SPDX-License-Identifier: Apache-2.0 */
/* Tests remedies that need evidence of their own: with just enough of it, and just too little. */
#include <criterion/criterion.h>
#include <math.h>

#include "analysis/cause/advice.h"
#include "analysis/cause/cause.h"
#include "analysis/cause/lines.h"
#include "analysis/cause/removed.h"
#include "grounds_model.h"
#include "model.h"

Test(remedies, loads_that_wait_in_page_faults_of_a_mapped_file)
{
	struct load_facts facts = no_waits();

	facts.faults = facts.major_faults = 1e5;
	for (int percent = 49; percent <= 51; percent += 2) {
		facts.wait_ns[LOAD_WAIT_FAULT] = percent / 100. * facts.load_ns;
		cr_expect_eq(judge_facts(&facts), CAUSE_LOADER_CAPACITY, "not memory");
		cr_expect_eq(is_advised(ADVICE_FAULT_LESS), percent > 50);
		cr_expect(is_advised(ADVICE_MORE_LOADER_CAPACITY));
	}
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_FAULT_LESS);
	cr_expect_eq(diagnosis.advice.steps[0].low, 0);
	cr_expect_gt(diagnosis.advice.steps[0].high, diagnosis.advice.steps[0].gain);
	facts.swapped_bytes = 1;
	cr_expect_eq(judge_facts(&facts), CAUSE_MEMORY);
	facts.swapped_bytes = facts.wait_ns[LOAD_WAIT_FAULT] = 0;
	cr_expect_eq(judge_facts(&facts), CAUSE_MEMORY, "not of a mapped file");
}

/* A dataset that draws samples until one fits decodes several images for each that it returns. */
Test(remedies, images_that_are_drawn_again)
{
	struct load_facts facts = no_waits();
	struct load_times loads = TIMES;
	const struct cause_input input = {.loads = &loads, .facts = &facts};

	loads.decode_ns = 0.5 * loads.load_ns;
	for (int lacks = 0; lacks < 4; lacks++) {
		facts.images_per_sample = lacks == 1 ? 2.9 : 6.9;
		facts.images_spread = lacks == 2 ? 0.6 : 0.9;
		facts.decoded_per_byte = lacks == 3 ? 1.9 : 6.9;
		make(NULL, NULL);
		judge(&input);
		cr_expect_eq(is_advised(ADVICE_DECODE_FEWER), !lacks, "%d", lacks);
		cr_expect_eq(is_advised(ADVICE_DECODE_BOUND), lacks != 0, "%d", lacks);
	}
	loads.decode_ns = 0.19 * loads.load_ns;
	facts.decoded_per_byte = 6.9;
	make(NULL, NULL);
	judge(&input);
	cr_expect_not(is_advised(ADVICE_DECODE_FEWER));
}

/* Loads wait for a server, or for their threads that do, and use little of what it sends. */
Test(remedies, bytes_that_a_server_sends_in_vain)
{
	enum {
		ENOUGH,
		FEW_TIMES,
		SMALL_SAMPLES,
		SHORT_WAITS,
		BUSY_THREADS,
		NOTHING_RECEIVED
	};
	struct load_times loads = TIMES;

	loads.cpu_ns = 0.1 * loads.load_ns;
	loads.samples = 8 * LOADS;
	for (int by_threads = 0; by_threads < 2; by_threads++)
		for (int lacks = ENOUGH; lacks <= NOTHING_RECEIVED; lacks++) {
			const enum load_wait_kind kind =
				by_threads ? LOAD_WAIT_THREAD : LOAD_WAIT_SOCKET;
			struct load_facts facts = no_waits();
			bool is_given = lacks == ENOUGH;

			if (!by_threads && lacks >= BUSY_THREADS)
				continue;
			facts.wait_ns[kind] = (lacks == SHORT_WAITS ? 0.49 : 0.8) * facts.load_ns;
			facts.wait_bytes[kind] = lacks == NOTHING_RECEIVED ? 0 : 1e9;
			facts.runnable_threads = lacks == BUSY_THREADS ? 0.4 : 0.1;
			facts.received_per_byte = lacks == FEW_TIMES ? 7.9 : 20;
			facts.batch_bytes = lacks == SMALL_SAMPLES ? 0.39e6 : 2e6;
			make(NULL, NULL);
			series.worker_cores = facts.runnable_threads;
			judge(&(struct cause_input){.loads = &loads, .facts = &facts});
			cr_expect_eq(is_advised(ADVICE_READ_LESS), is_given, "%d %d", by_threads,
				     lacks);
			/* Once a batch is no help where the time goes with the bytes. */
			cr_expect_eq(is_advised(ADVICE_FEWER_REQUESTS),
				     lacks == FEW_TIMES || lacks == SMALL_SAMPLES, "%d %d",
				     by_threads, lacks);
			if (!is_given)
				continue;
			cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_READ_LESS);
			cr_expect_eq(diagnosis.advice.steps[0].low, 0);
			cr_expect(is_advised(ADVICE_MORE_LOADER_CAPACITY));
		}
}

/* Other programs' use of the cores may be that of the process that loads ask, such as a Manager. */
Test(remedies, loads_that_wait_for_a_process_that_uses_the_cores)
{
	struct load_times loads = TIMES;

	loads.cpu_ns = 0.2 * loads.load_ns;
	for (int lacks = 0; lacks < 4; lacks++) {
		struct load_facts facts = no_waits();

		facts.wait_ns[LOAD_WAIT_SOCKET] = (lacks == 1 ? 0.45 : 0.52) * facts.load_ns;
		facts.no_core_ns = (lacks == 2 ? 0.27 : 0.23) * facts.load_ns;
		facts.children_cores = lacks == 3 ? 0.2 : 0;
		make(NULL, NULL);
		series.load_cpu_ns = loads.cpu_ns;
		series.cores = 2.5;
		series.other_cores = 2;
		cr_expect_eq(judge(&(struct cause_input){.loads = &loads, .facts = &facts}),
			     lacks ? CAUSE_CPU_CONTENTION : CAUSE_LOADER_CAPACITY, "%d: %s", lacks,
			     cause_names[diagnosis.cause]);
	}
}

/* The loop sometimes waits long for another loader; it is not known in which steps. */
Test(remedies, rare_waits_for_another_loader_are_no_pauses_of_the_workers)
{
	const double load_ns = 212 * MS, step_ns = 30 * MS;
	double free_ns[2] = {0}, now_ns = 0;

	series_init(&series);
	series.workers = series.prefetch_factor = 2;
	series.in_order = 1;
	series.cores = 16;
	for (int i = 0; i < 300; i++) {
		const double end_ns = free_ns[i % 2] + load_ns;
		const double out_ns = fmax(now_ns, end_ns) + 0.1 * MS;
		const double other_ns = i % 15 == 7 ? 150 * MS : 0;
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.batch = i;
		row.worker = i % 2;
		row.load_ns = (int64_t)load_ns;
		row.load_cpu_ns = 0;
		row.wait_ns = (int64_t)(out_ns - now_ns);
		row.handover_ns = (int64_t)(0.1 * MS);
		row.head_ready = end_ns <= now_ns;
		row.compute_ns = (int64_t)step_ns;
		cr_assert_eq(series_append(&series, &row), 0);
		series.elsewhere_ns += other_ns;
		free_ns[i % 2] = end_ns;
		now_ns = out_ns + step_ns + other_ns;
	}
	judge(NULL);
	cr_expect_eq(diagnosis.whatif.gap, WHATIF_GAP_NONE, "off by %g", diagnosis.whatif.off);
	cr_expect_gt(diagnosis.whatif.more_workers, 2);
}

/* With four workers and one epoch, files that each worker opens once are opened four times. */
Test(remedies, files_that_each_worker_opens)
{
	struct load_facts facts = no_waits();
	struct load_times loads = TIMES;
	const struct cause_input input = {.loads = &loads, .facts = &facts};

	for (int lacks = 0; lacks < 6; lacks++) {
		facts.files.count = lacks == 1 ? 1 : 8;
		facts.files.fewest_opens = lacks == 2 ? 3 : 4;
		facts.files.most_opens = lacks == 3 ? 5 : 4;
		loads.read_ns = (lacks == 4 ? 0.03 : 0.3) * loads.load_ns;
		loads.decode_ns = 0.06 * loads.load_ns;
		make(NULL, NULL);
		series.iterable = lacks != 5;
		judge(&input);
		cr_expect_eq(is_advised(ADVICE_SPLIT_FIRST), !lacks, "%d", lacks);
		if (lacks)
			continue;
		cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_SPLIT_FIRST);
		cr_expect_eq(diagnosis.advice.steps[0].low, 0, "each may read its own part");
		cr_expect_gt(diagnosis.advice.steps[0].high, 0.7);
	}
	epochs = 2;
	facts.files.most_opens = 8;
	for (int opens = 3; opens <= 4; opens++) {
		facts.files.fewest_opens = opens;
		make(NULL, NULL);
		series.iterable = 1;
		judge(&input);
		cr_expect_eq(is_advised(ADVICE_SPLIT_FIRST), opens == 4, "cut off");
	}
	epochs = 1;
}

static double slow_from_half(int batch)
{
	return batch < LOADS / 2 ? 60 : 240;
}

static double slow_in_turn(int batch)
{
	return batch % 2 ? 60 : 240;
}

/* Loads that a server makes slower from one moment on need no other settings of the loader. */
Test(remedies, a_server_that_is_slow_from_one_moment_on)
{
	for (int lacks = 0; lacks < 3; lacks++) {
		struct load_facts facts = no_waits();

		facts.load_ns = LOADS * 150 * MS;
		facts.wait_ns[LOAD_WAIT_SOCKET] = (lacks == 1 ? 0.4 : 0.6) * facts.load_ns;
		make(lacks == 2 ? slow_in_turn : slow_from_half, NULL);
		judge(&(struct cause_input){.loads = &TIMES, .facts = &facts});
		cr_expect_eq(diagnosis.cause, CAUSE_LOADER_CAPACITY, "%s",
			     cause_names[diagnosis.cause]);
		cr_expect_eq(is_advised(ADVICE_FIND_EVENT), !lacks, "%d", lacks);
		if (!lacks) {
			cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_FIND_EVENT);
			cr_expect_not(diagnosis.advice.steps[0].is_ideal);
		}
	}
}

/* Where single stalls are the cause, loads as short as at first are no remedy. */
Test(remedies, single_stalls_of_a_server_are_no_shift)
{
	static const enum cause causes[][2] = {{CAUSE_LOADER_CAPACITY, CAUSE_UNKNOWN},
					       {CAUSE_LOADER_CAPACITY, CAUSE_ISOLATED_STALL},
					       {CAUSE_SHARED_LIMIT, CAUSE_UNKNOWN},
					       {CAUSE_SHARED_LIMIT, CAUSE_ISOLATED_STALL},
					       {CAUSE_ISOLATED_STALL, CAUSE_UNKNOWN}};
	static const bool wanted[] = {true, true, true, false, false};

	for (size_t i = 0; i < ARRAY_COUNT(causes); i++) {
		struct diagnosis d = {.cause = causes[i][0], .second = causes[i][1]};

		d.shift.at = 9;
		d.grounds.asked_share = 0.9;
		cr_expect_eq(removed_is_shift(&d), wanted[i], "%zu", i);
		d.grounds.asked_share = 0.1;
		cr_expect_not(removed_is_shift(&d), "%zu", i);
	}
}

/* Shares of the loads: opening and reading take 30 % of them, decoding 40 %. */
Test(remedies, shares_that_remedies_remove)
{
	static const struct {
		enum advice_id id;
		double removed, needless;
	} rows[] = {
		{ADVICE_READ_LESS, 0.7 * 0.8, 0.8},
		{ADVICE_DECODE_FEWER, 0.7 * 0.9, 0.9},
		{ADVICE_SPLIT_FIRST, 0.4 * 0.75, 0.75},
		{ADVICE_DECODE_BOUND, 0.4, 0.9},
		{ADVICE_SHRINK_BATCH, 0.15 * 0.6, 0.6},
		{ADVICE_FAULT_LESS, 0.05, 0.1},
		{ADVICE_KEEP_OPEN, 0.2, 0.23},
		{ADVICE_FIX_SAMPLES, 0.12 * 0.75, 0},
		{ADVICE_SHARE_WITHOUT_MANAGER, 0.31, 0},
		{ADVICE_SYNC_LESS, 0.32, 0},
		{ADVICE_WRITE_LESS, 0.33, 0},
		{ADVICE_SHORTEN_LOCK, 0.34, 0},
		{ADVICE_REDUCE_CPU_PER_BATCH, 0.45, 0},
		{ADVICE_STORAGE_BOUND, 0.3, 0},
		{ADVICE_SMALL_READS, 0.3, 0},
		{ADVICE_FEWER_OPENS, 0.3, 0},
		{ADVICE_STOP_GROWTH, 0.2, 0},
		{ADVICE_NONE, 0, 0},
	};
	const struct load_times loads = {
		.load_ns = 100, .open_ns = 10, .read_ns = 20, .decode_ns = 40, .collate_ns = 15};
	const struct cause_input input = {.loads = &loads};
	const struct batch_series s = {.workers = 4, .worker_threads = NAN};
	const struct finding f = {.load_mean_ns = 100};
	struct diagnosis d = {.cause = CAUSE_LOADER_CAPACITY};
	const struct remedied v = {&s, &f, &input, &d};
	struct grounds *g = &d.grounds;

	g->read_again = 5;
	g->drawn = 10;
	g->decoded_again = 10;
	g->blown_up = 2.5;
	g->fault_share = 0.1;
	g->making_share = 0.2;
	g->making_error = 0.03;
	g->samples.share = 0.12;
	g->samples.mean_ns = 1;
	g->samples.each_ns = 4;
	g->asked_share = 0.31;
	g->sync_share = 0.32;
	g->write_share = 0.33;
	g->lock_share = 0.34;
	g->cpu_share = 0.8;
	g->no_core_share = 0.1;
	g->growth.first_ns = 80;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		const struct removed removed = removed_by(&v, rows[i].id);

		cr_expect_float_eq(removed.share, rows[i].removed, 1e-9, "%zu", i);
		cr_expect_float_eq(removed.needless, rows[i].needless, 1e-9, "%zu", i);
	}
	cr_expect_float_eq(removed_by(&v, ADVICE_KEEP_OPEN).least, 0.17, 1e-9);
	cr_expect_float_eq(removed_by(&v, ADVICE_READ_LESS).least, 0.7 * 0.6, 1e-9, "2 of 5 bytes");
}

/* A single worker writes to a pipe, which is a helper's if the worker also waits for answers. */
Test(remedies, a_helper_of_a_single_worker)
{
	for (int answers = 0; answers < 2; answers++) {
		struct load_facts facts = no_waits();

		facts.peer_count = 1;
		facts.wait_ns[LOAD_WAIT_WRITE] = 0.52 * facts.load_ns;
		facts.peers[0] = (struct load_peer){LOAD_WAIT_WRITE, "pipe:[7]",
						    facts.wait_ns[LOAD_WAIT_WRITE]};
		facts.wait_ns[LOAD_WAIT_PIPE] = (answers ? 0.06 : 0.04) * facts.load_ns;
		make(NULL, NULL);
		series.workers = series.loading = 1;
		judge(&(struct cause_input){.loads = &TIMES, .facts = &facts});
		cr_expect_eq(is_advised(ADVICE_WRITE_LESS), !answers);
		cr_expect_eq(is_advised(ADVICE_WITHOUT_HELPER), answers);
	}
}

/* The lack of cores is the second cause, after receiving, which costs more. */
Test(remedies, cores_that_are_short_as_the_second_cause)
{
	for (int lacks = 0; lacks < 2; lacks++) {
		struct load_facts facts = no_waits();

		facts.no_core_ns = (lacks ? 0.24 : 0.26) * facts.load_ns;
		make_none();
		series.cores = 2.5;
		series.other_cores = 1.8;
		series.main_share = 0.9;
		for (int i = 0; i < LOADS; i++) {
			struct batch_row row = BATCH_ROW_UNKNOWN;

			row.batch = i;
			row.worker = i % 4;
			row.load_ns = (int64_t)(150 * MS);
			row.load_cpu_ns = row.load_ns / 2;
			row.wait_ns = (int64_t)(60 * MS);
			row.handover_ns = (int64_t)(35 * MS);
			row.compute_ns = (int64_t)(20 * MS);
			row.head_ready = 0;
			cr_assert_eq(series_append(&series, &row), 0);
		}
		judge(&(struct cause_input){.loads = &TIMES, .facts = &facts});
		cr_expect_eq(diagnosis.cause, CAUSE_DELIVERY, "%s", cause_names[diagnosis.cause]);
		cr_expect_eq(diagnosis.second, CAUSE_CPU_CONTENTION, "%s",
			     cause_names[diagnosis.second]);
		cr_expect_eq(is_advised(ADVICE_OWN_CORES), !lacks, "%d", lacks);
	}
}

/* More threads in a pool gain nothing if its threads wait for each other; processes may gain. */
Test(remedies, threads_that_wait_for_each_other)
{
	static const struct {
		double cpu, waiting;
		bool is_threads, is_held;
	} rows[] = {
		{0.1, 0.21, true, true},   {0.1, 0.19, true, false},  {0.1, 0.6, false, false},
		{0.21, NAN, true, true},   {0.19, NAN, true, false},
	};
	struct load_facts facts = no_waits();

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		struct load_times times = TIMES;

		make(NULL, NULL);
		series.load_cpu_ns = rows[k].cpu * LOADS * 100 * MS;
		times.cpu_ns = rows[k].cpu * times.load_ns;
		facts.wait_ns[LOAD_WAIT_THREAD] = rows[k].waiting * facts.load_ns;
		judge(&(struct cause_input){
			.loads = &times, .facts = &facts, .is_threads = rows[k].is_threads});
		cr_expect_eq(is_advised(ADVICE_MOVE_OUT_OF_PROCESS), rows[k].is_held, "%zu", k);
		cr_expect_neq(is_advised(ADVICE_MORE_LOADER_CAPACITY), rows[k].is_held, "%zu", k);
	}
}

/* What a library computes for the longest function could be kept: its gain counts, too. */
Test(remedies, half_the_cpu_or_less_reaches_to_loads_without_their_longest_function)
{
	struct line_share line = {.frame = 1,
				  .inner = 2,
				  .inner_share = 1,
				  .share = 0.9,
				  .error = 0.02,
				  .of_function = 0.9,
				  .function_error = 0.02,
				  .is_own = true};
	const struct lines lines = {.groups = {[LINE_LOADS] = {&line, 1, 900, 45e9}}};
	struct load_times loads = TIMES;
	struct load_facts facts = no_waits();
	const struct cause_input input = {.loads = &loads, .facts = &facts, .lines = &lines};
	struct model m = HEALTHY;

	loads.cpu_ns = 0.97 * loads.load_ns;
	m.workers = 2;
	m.load = 100;
	m.cpu_share = 0.97;
	m.compute = 5;
	m.cores = 2;
	for (int is_most = 0; is_most < 2; is_most++) {
		const struct advice *half;

		line.of_function = is_most ? 0.9 : 0.45;
		model_run(&m);
		judge(&input);
		half = advised(ADVICE_REDUCE_CPU_PER_BATCH);
		cr_assert_not_null(half);
		cr_expect_eq(half->is_open, is_most);
		cr_expect_float_eq(half->gain, 1, 0.1, "half of each load");
		cr_expect(is_most ? half->high > 5 : half->high < 1.5, "%g", half->high);
	}
	/* A second worker brings a little less than that, and no more. */
	m.workers = 1;
	for (int is_most = 0; is_most < 2; is_most++) {
		line.of_function = is_most ? 0.9 : 0.45;
		model_run(&m);
		judge(&input);
		cr_assert(is_advised(ADVICE_MORE_LOADER_CAPACITY));
		cr_expect_eq(diagnosis.advice.steps[0].id == ADVICE_REDUCE_CPU_PER_BATCH, is_most);
	}
}

/* The user's own code goes first unless workers, or more of them, bring twice as much. */
Test(remedies, own_code_goes_before_workers_that_bring_little_more)
{
	struct line_share line = {.share = 0.9,
				  .error = 0.02,
				  .of_function = 0.95,
				  .function_error = 0.02,
				  .is_own = true,
				  .inner_share = 1};
	const struct lines lines = {.groups = {[LINE_LOADS] = {&line, 1, 900, 45e9}}};
	struct load_times loads = TIMES;
	struct load_facts facts = no_waits();
	const struct cause_input input = {.loads = &loads, .facts = &facts, .lines = &lines};
	struct model m = HEALTHY;

	loads.cpu_ns = 0.97 * loads.load_ns;
	m.workers = 0;
	m.load = 100;
	m.cpu_share = 0.97;
	for (int is_even = 0; is_even < 2; is_even++) {
		const struct advice *steps = diagnosis.advice.steps;

		m.compute = is_even ? 100 : 10;
		m.cores = 2;
		model_run(&m);
		cr_assert_eq(judge(&input), CAUSE_SINGLE_PROCESS);
		cr_assert(is_advised(ADVICE_USE_WORKERS) &&
			  is_advised(ADVICE_REDUCE_CPU_PER_BATCH));
		cr_expect_eq(steps[0].id == ADVICE_USE_WORKERS, is_even, "%s %g %g",
			     advice_names[steps[0].id], steps[0].gain, steps[1].gain);
	}
	m.workers = 1;
	for (int is_large = 0; is_large < 2; is_large++) {
		const struct advice *steps = diagnosis.advice.steps;

		m.compute = 10;
		m.cores = is_large ? 16 : 2;
		model_run(&m);
		cr_assert_eq(judge(&input), CAUSE_LOADER_CAPACITY);
		cr_assert(is_advised(ADVICE_MORE_LOADER_CAPACITY));
		cr_expect_eq(steps[0].id == ADVICE_MORE_LOADER_CAPACITY, is_large, "%s %g %g",
			     advice_names[steps[0].id], steps[0].gain, steps[1].gain);
	}
}

/* A line of the steps is advised where it is the cause; else it drops none of three remedies. */
Test(remedies, a_line_of_the_steps_drops_no_remedy_of_another_cause)
{
	struct line_share line = {.share = 0.6, .error = 0.05, .is_own = true};
	const struct lines lines = {.groups = {[LINE_STEPS] = {&line, 1, 300, 1e9}}};
	const struct step_parts step = {.is_split = true};
	struct load_times loads = TIMES;
	struct load_facts facts = no_waits();

	loads.load_ns = facts.load_ns = LOADS * 400 * MS;
	loads.cpu_ns = 0.3 * loads.load_ns;
	loads.decode_ns = 0.3 * loads.load_ns;
	loads.read_ns = 0.5 * loads.load_ns;
	for (int is_split = 0; is_split < 2; is_split++) {
		make_none();
		for (int i = 0; i < LOADS; i++) {
			struct batch_row row = BATCH_ROW_UNKNOWN;

			row.batch = i;
			row.load_ns = (int64_t)(400 * MS);
			row.wait_ns = (int64_t)(15 * MS);
			row.handover_ns = (int64_t)(0.1 * MS);
			row.compute_ns = (int64_t)(85 * MS);
			row.worker = i % 4;
			row.head_ready = 0;
			row.load_cpu_ns = (int64_t)(120 * MS);
			cr_assert_eq(series_append(&series, &row), 0);
		}
		judge(&(struct cause_input){.loads = &loads,
					    .facts = &facts,
					    .lines = &lines,
					    .step = is_split ? &step : NULL});
		cr_expect_eq(diagnosis.cause == CAUSE_STEP_LINE, !is_split, "%s",
			     cause_names[diagnosis.cause]);
		cr_expect_eq(diagnosis.advice.steps[0].id == ADVICE_CHEAPER_STEP, !is_split);
		cr_expect_eq(is_advised(ADVICE_CHEAPER_STEP), !is_split);
		cr_expect(is_advised(ADVICE_MORE_LOADER_CAPACITY));
		cr_expect(!is_split || diagnosis.advice.count == ADVICE_MOST);
	}
}
