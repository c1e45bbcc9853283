/* SPDX-License-Identifier: Apache-2.0 */
/* Tests what each cause is named for: with just enough of an observation, and just too little. */
#include <criterion/criterion.h>
#include <math.h>

#include "analysis/cause/advice.h"
#include "analysis/cause/cause.h"
#include "analysis/cause/grounds.h"
#include "analysis/cause/lines.h"
#include "grounds_model.h"
#include "model.h"

Test(grounds, without_any_the_mechanism_is_the_cause)
{
	const struct load_facts facts = no_waits();

	make(NULL, NULL);
	cr_expect_eq(judge(NULL), CAUSE_LOADER_CAPACITY);
	cr_expect_eq(judge_facts(&facts), CAUSE_LOADER_CAPACITY);
}

static int one_worker(int batch)
{
	return 0;
}

static int two_workers(int batch)
{
	return batch % 2 * 3;
}

Test(grounds, workers_that_make_no_batch_are_idle)
{
	make(NULL, one_worker);
	cr_expect_eq(judge(NULL), CAUSE_IDLE_WORKERS);
	cr_expect_eq(diagnosis.grounds.loading, 1);
	make(NULL, two_workers);
	cr_expect_eq(judge(NULL), CAUSE_IDLE_WORKERS);
	cr_expect_eq(diagnosis.grounds.loading, 2);
	make(NULL, NULL);
	judge(NULL);
	cr_expect_eq(diagnosis.grounds.loading, 4);
}

Test(grounds, a_lock_that_processes_share)
{
	struct load_facts facts = no_waits();

	facts.wait_ns[LOAD_WAIT_LOCK] = 0.41 * facts.load_ns;
	cr_expect_eq(judge_facts(&facts), CAUSE_LOCK);
	cr_expect_not(is_advised(ADVICE_MORE_LOADER_CAPACITY), "they would wait for it, too");
	facts.wait_ns[LOAD_WAIT_LOCK] = 0.39 * facts.load_ns;
	cr_expect_eq(judge_facts(&facts), CAUSE_LOADER_CAPACITY);
}

static double slow_ones(int batch)
{
	return batch % 14 ? 100 : 400;
}

Test(grounds, a_few_samples_take_much_of_all)
{
	/* The mean sample takes 10 ms. 1 % of the 4,000 samples are 40 samples. */
	struct slow_sample slow[64];

	for (int i = 0; i < 64; i++)
		slow[i] = (struct slow_sample){300 * MS, 1};
	struct cause_input input = {.loads = &TIMES, .samples = slow, .sample_count = 27};

	make(slow_ones, NULL);
	cr_expect_eq(judge(&input), CAUSE_SLOW_SAMPLES, "27 of 300 ms are 8.1 of 40 s");
	cr_expect_float_eq(diagnosis.grounds.samples.share, 0.2025, 1e-9);
	input.sample_count = 26;
	make(slow_ones, NULL);
	cr_expect_eq(judge(&input), CAUSE_LOADER_CAPACITY, "a fifth is needed");
	input.sample_count = 41;
	make(slow_ones, NULL);
	cr_expect_eq(judge(&input), CAUSE_LOADER_CAPACITY, "these are not few");
	input.sample_count = 27;
	make(NULL, NULL);
	cr_expect_eq(judge(&input), CAUSE_LOADER_CAPACITY, "no load was as long: an accident");
	for (int i = 0; i < 64; i++)
		slow[i].ns = 49 * MS;
	input.sample_count = 40;
	make(slow_ones, NULL);
	cr_expect_eq(judge(&input), CAUSE_LOADER_CAPACITY, "these are not slow");
}

static double slow_at_once(int batch)
{
	return batch % 56 > 3 ? 100 : 400;
}

/* When a server pauses, the loads of all four workers are slow at once. */
Test(grounds, samples_are_not_to_blame_if_all_workers_are_slow_at_once)
{
	struct slow_sample slow[28];
	struct cause_input input = {.loads = &TIMES, .samples = slow, .sample_count = 28};

	for (int i = 0; i < 28; i++)
		slow[i] = (struct slow_sample){300 * MS, 1};
	make(slow_ones, NULL);
	cr_expect_eq(judge(&input), CAUSE_SLOW_SAMPLES);
	make(slow_at_once, NULL);
	cr_expect_neq(judge(&input), CAUSE_SLOW_SAMPLES);
}

static double pausing(int batch)
{
	return batch % 14 ? 100 : 1000;
}

/* Python collects garbage for 900 ms in a load, which is of other samples in each epoch. */
Test(grounds, an_accident_does_not_come_again_in_the_next_epoch)
{
	struct slow_sample slow[9];
	struct cause_input input = {.loads = &TIMES, .samples = slow, .sample_count = 9};

	epochs = 4;
	for (int count = 1; count <= 3; count += 2) {
		for (int i = 0; i < 9; i++)
			slow[i] = (struct slow_sample){900 * MS / count, count};
		make(pausing, NULL);
		cr_expect_eq(judge(&input),
			     count == 1 ? CAUSE_LOADER_CAPACITY : CAUSE_SLOW_SAMPLES,
			     "%d of 4 epochs: %s", count, cause_names[diagnosis.cause]);
	}
	epochs = 1;
}

/* For waits for a server the advice is fewer requests; for waits for a program, none of it. */
Test(grounds, loads_that_wait_for_pipes_or_sockets)
{
	struct load_facts facts = no_waits();

	facts.wait_ns[LOAD_WAIT_SOCKET] = 0.6 * facts.load_ns;
	judge_facts(&facts);
	cr_expect(is_advised(ADVICE_FEWER_REQUESTS));
	cr_expect_not(is_advised(ADVICE_WITHOUT_HELPER));
	facts.wait_ns[LOAD_WAIT_PIPE] = 0.6 * facts.load_ns;
	facts.wait_ns[LOAD_WAIT_SOCKET] = 0;
	judge_facts(&facts);
	cr_expect_not(is_advised(ADVICE_FEWER_REQUESTS));
	cr_expect(is_advised(ADVICE_WITHOUT_HELPER));
}

/* Python's calls take the time of many small samples that a dataset makes one by one. */
Test(grounds, small_samples_that_are_made_one_by_one)
{
	static const struct {
		double samples, bytes, single, cpu;
		bool is_advised;
		unsigned int lacks;
		int32_t is_iterable;
	} rows[] = {
		{2000, 100, 0.31, 0.81, false, OPTION_SAMPLER, 0},
		{2000, 100, 0.31, 0.81, false, 0, 1},
		{2000, 100, 0.31, 0.81, true},	 {1990, 100, 0.31, 0.81, false},
		{2000, 4097, 0.31, 0.81, false}, {2000, NAN, 0.31, 0.81, false},
		{2000, 100, 0.29, 0.81, false},	 {2000, 100, NAN, 0.81, false},
		{2000, 100, 0.31, 0.79, false},
	};
	struct load_facts facts = no_waits();

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		struct lines lines = {.single_share = rows[k].single, .making_share = NAN};
		struct load_times times = TIMES;
		const struct cause_input input = {.loads = &times,
						  .facts = &facts,
						  .lines = &lines,
						  .lacks = rows[k].lacks};

		make(NULL, NULL);
		series.iterable = rows[k].is_iterable;
		times.samples = rows[k].samples * times.load_ns / (100 * MS);
		times.cpu_ns = rows[k].cpu * times.load_ns;
		facts.batch_bytes = rows[k].samples * rows[k].bytes;
		judge(&input);
		cr_expect_eq(is_advised(ADVICE_INDEX_AT_ONCE), rows[k].is_advised, "%zu", k);
	}
}

/* One-hot masks and images as floats make batches much larger than what was read. */
Test(grounds, batches_that_are_blown_up)
{
	static const struct {
		double images, decoded_per_byte, bytes, collate;
		bool is_advised;
		double read_per_byte;
	} rows[] = {
		{1, 0.12, 9 << 20, 0.21, false, 0.13},
		{1, 0.12, 9 << 20, 0.21, true},	 {1, 0.13, 9 << 20, 0.21, false},
		{1, 0.12, 7 << 20, 0.21, false}, {1, 0.12, 9 << 20, 0.19, false},
		{0.9, 0.12, 9 << 20, 0.21, false}, {NAN, NAN, 9 << 20, 0.21, false},
	};
	struct load_facts facts = no_waits();

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		struct load_times times = TIMES;
		const struct cause_input input = {.loads = &times, .facts = &facts};

		make(NULL, NULL);
		times.collate_ns = rows[k].collate * times.load_ns;
		facts.images_per_sample = rows[k].images;
		facts.decoded_per_byte = rows[k].decoded_per_byte;
		facts.batch_bytes = rows[k].bytes;
		facts.read_per_byte = rows[k].read_per_byte;
		judge(&input);
		cr_expect_eq(is_advised(ADVICE_SHRINK_BATCH), rows[k].is_advised, "%zu", k);
	}
}

/* Objects that each sample makes anew are named only if they could be kept open. */
Test(grounds, clients_and_readers_that_each_sample_makes)
{
	struct load_facts facts = no_waits();
	struct lines lines = {.making_share = 0.45, .making_error = 0.04};
	const struct cause_input input = {.loads = &TIMES, .facts = &facts, .lines = &lines};

	make(NULL, NULL);
	judge(&input);
	cr_expect_not(is_advised(ADVICE_KEEP_OPEN), "objects of each sample's own");
	for (int opens = 0; opens < 2; opens++) {
		facts.wait_ns[LOAD_WAIT_SOCKET] = opens ? 0 : 0.6 * facts.load_ns;
		facts.peer_count = !opens;
		facts.peers[0].count = TIMES.samples;
		facts.reopens_per_sample = facts.reopened_per_sample = opens ? 0.6 : NAN;
		facts.opens_per_sample = 1.1;
		lines.making_share = 0.45;
		make(NULL, NULL);
		judge(&input);
		cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_KEEP_OPEN, "%s",
			     advice_names[diagnosis.advice.steps[0].id]);
		lines.making_share = 0.43;
		make(NULL, NULL);
		judge(&input);
		cr_expect_not(is_advised(ADVICE_KEEP_OPEN));
		lines.making_share = 0.45;
		facts.peers[0].count = 0.8 * TIMES.samples;
		make(NULL, NULL);
		judge(&input);
		cr_expect_eq(is_advised(ADVICE_KEEP_OPEN), opens, "not each sample asks");
		facts.peers[0].count = TIMES.samples;
		lines.making_share = opens ? 0.45 : 0.95;
		facts.opens_per_sample = 1.3;
		make(NULL, NULL);
		judge(&input);
		cr_expect_not(is_advised(ADVICE_KEEP_OPEN), "%s",
			      opens ? "other files are opened as often" : "nothing else is asked");
	}
	/* A client that reads several files of its own, each time the same. */
	facts.reopened_per_sample = 1.2;
	make(NULL, NULL);
	judge(&input);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_KEEP_OPEN);
}

/* Runs in which all waiting is for receiving batches. */
Test(grounds, batches_without_tensors_are_pickled)
{
	static const struct {
		double tensors, bytes, objects;
		unsigned int lacks;
		bool is_advised;
	} batches[] = {
		{0, 2 << 20, 8, 0, true},
		{1, 2 << 20, 8, 0, false},
		{0, 2 << 20, 8, OPTION_SHARING, false},
		{0, 1 << 19, 8, 0, false},
		{NAN, NAN, 16385, 0, true},
		{NAN, NAN, 16383, 0, false},
		{NAN, NAN, NAN, 0, false},
	};
	struct load_facts facts = no_waits();

	for (size_t k = 0; k < sizeof(batches) / sizeof(batches[0]); k++) {
		const struct cause_input input = {.facts = &facts, .lacks = batches[k].lacks};

		facts.tensors = batches[k].tensors;
		facts.batch_bytes = batches[k].bytes;
		facts.objects = batches[k].objects;
		make(NULL, NULL);
		for (int i = 0; i < LOADS; i++) {
			series.handover_ns[i] = series.wait_ns[i];
			series.load_ns[i] = (float)(10 * MS);
			series.state[i] |= SERIES_READY_KNOWN | SERIES_READY;
		}
		cr_expect_eq(judge(&input), CAUSE_DELIVERY, "%s", cause_names[diagnosis.cause]);
		cr_expect_eq(is_advised(ADVICE_RETURN_TENSORS), batches[k].is_advised, "%zu", k);
	}
}

/* More workers gain nothing if they wait for one process that can use only one core. */
Test(grounds, a_helper_process_that_computes_for_all_workers)
{
	struct load_facts facts = no_waits();

	facts.wait_ns[LOAD_WAIT_PIPE] = 0.6 * facts.load_ns;
	facts.helper_cores = 0.79;
	cr_expect_eq(judge_facts(&facts), CAUSE_LOADER_CAPACITY);
	cr_expect(is_advised(ADVICE_MORE_LOADER_CAPACITY));
	facts.helper_cores = 0.81;
	cr_expect_eq(judge_facts(&facts), CAUSE_SHARED_LIMIT);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_WITHOUT_HELPER);
	cr_expect_not(is_advised(ADVICE_MORE_LOADER_CAPACITY));
	facts.helper_cores = 1.31;
	cr_expect_neq(judge_facts(&facts), CAUSE_SHARED_LIMIT, "it has more than one thread");
	facts.helper_cores = 1;
	facts.wait_ns[LOAD_WAIT_PIPE] = 0.4 * facts.load_ns;
	facts.wait_ns[LOAD_WAIT_PROGRAM] = 0.2 * facts.load_ns;
	cr_expect_eq(judge_facts(&facts), CAUSE_LOADER_CAPACITY, "it is not what they wait for");
}

/* The lock of a queue only orders those who wait for what comes out of it. */
Test(grounds, workers_that_take_turns_at_one_pipe)
{
	struct load_facts facts = no_waits();

	facts.wait_ns[LOAD_WAIT_LOCK] = 0.5 * facts.load_ns;
	facts.wait_ns[LOAD_WAIT_PIPE] = 0.41 * facts.load_ns;
	cr_expect_eq(judge_facts(&facts), CAUSE_SHARED_LIMIT);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_WITHOUT_HELPER);
	cr_expect_not(is_advised(ADVICE_SHORTEN_LOCK));
	facts.wait_ns[LOAD_WAIT_PIPE] = 0.39 * facts.load_ns;
	cr_expect_eq(judge_facts(&facts), CAUSE_LOCK);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_SHORTEN_LOCK);
	cr_expect_not(is_advised(ADVICE_WITHOUT_HELPER));
}

/* More than two loads run at once; they compute half of their time, and their programs as long. */
Test(grounds, programs_that_use_up_the_cores)
{
	struct load_facts facts = no_waits();

	facts.wait_ns[LOAD_WAIT_PROGRAM] = 0.6 * facts.load_ns;
	judge_facts(&facts);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_WITHOUT_HELPER);
	cr_expect(is_advised(ADVICE_MORE_LOADER_CAPACITY));
	for (int others = 0; others < 2; others++) {
		make(NULL, NULL);
		series.cores = 2.5;
		series.other_cores = others ? 1.5 : NAN;
		facts.children_cores = 0.5;
		cr_expect_eq(judge(&(struct cause_input){.loads = &TIMES, .facts = &facts}),
			     CAUSE_CPU_CONTENTION, "%g", diagnosis.cpu_share);
		cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_WITHOUT_HELPER);
		cr_expect_not(is_advised(ADVICE_MORE_LOADER_CAPACITY));
	}
	make(NULL, NULL);
	series.cores = 8;
	cr_expect_eq(judge(&(struct cause_input){.loads = &TIMES, .facts = &facts}),
		     CAUSE_LOADER_CAPACITY, "%g", diagnosis.cpu_share);
}

Test(grounds, loads_that_wait_until_data_is_on_the_disk)
{
	struct load_facts facts = no_waits();

	facts.wait_ns[LOAD_WAIT_SYNC] = 0.49 * facts.load_ns;
	judge_facts(&facts);
	cr_expect_not(is_advised(ADVICE_SYNC_LESS));
	facts.wait_ns[LOAD_WAIT_SYNC] = 0.51 * facts.load_ns;
	judge_facts(&facts);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_SYNC_LESS);
	cr_expect_not(diagnosis.advice.steps[0].is_ideal);
}

/* All four workers write to one pipe; with a quarter of that wait each may have its own helper. */
Test(grounds, loads_that_write_to_one_pipe)
{
	struct load_facts facts = no_waits();

	facts.peer_count = 1;
	facts.peers[0] = (struct load_peer){.kind = LOAD_WAIT_WRITE, .name = "pipe:[7]"};
	for (int percent = 49; percent <= 51; percent += 2) {
		facts.wait_ns[LOAD_WAIT_WRITE] = facts.peers[0].ns = percent / 100. * facts.load_ns;
		cr_expect_eq(judge_facts(&facts),
			     percent > 50 ? CAUSE_SHARED_LIMIT : CAUSE_LOADER_CAPACITY);
		cr_expect_eq(is_advised(ADVICE_WRITE_LESS), percent > 50);
		cr_expect_eq(is_advised(ADVICE_MORE_LOADER_CAPACITY), percent < 50);
	}
	facts.peers[0].ns /= 4;
	cr_expect_eq(judge_facts(&facts), CAUSE_LOADER_CAPACITY);
	cr_expect_not(is_advised(ADVICE_WRITE_LESS));
	cr_expect(is_advised(ADVICE_WITHOUT_HELPER));
	facts.peers[0] = (struct load_peer){LOAD_WAIT_WRITE, DLPROF_TALLY_OTHERS, facts.load_ns};
	cr_expect_neq(judge_facts(&facts), CAUSE_SHARED_LIMIT, "of many pipes");
}

Test(grounds, loads_that_open_more_than_they_read)
{
	struct load_times loads = TIMES;

	for (int opens = 0; opens < 2; opens++) {
		loads.read_ns = 0.3 * loads.load_ns;
		loads.open_ns = (opens ? 0.4 : 0.2) * loads.load_ns;
		make(NULL, NULL);
		judge(&(struct cause_input){.loads = &loads});
		cr_expect_eq(is_advised(ADVICE_FEWER_OPENS), opens);
		cr_expect_eq(is_advised(ADVICE_STORAGE_BOUND), !opens);
	}
}

/* Returns the highest gain of a step of advice if one function takes a share of the loads. */
static double highest(enum advice_id id, double share, const struct load_times *loads)
{
	struct line_share line = {
		.ns = 1, .share = share, .of_function = share, .count = 100, .is_own = true};
	struct lines lines = {.asking_share = NAN, .most_sampling = NAN};

	lines.groups[LINE_LOADS] = (struct line_lead){&line, 1, 100, 1};
	make(NULL, NULL);
	judge(&(struct cause_input){.loads = loads, .lines = &lines});
	for (size_t i = 0; i < diagnosis.advice.count; i++)
		if (diagnosis.advice.steps[i].id == id)
			return diagnosis.advice.steps[i].high;
	return NAN;
}

Test(grounds, a_range_ends_without_the_function_that_leads)
{
	struct load_times loads = TIMES;
	double open;

	loads.cpu_ns = loads.load_ns;
	open = highest(ADVICE_REDUCE_CPU_PER_BATCH, 0.39, &loads);
	cr_expect_gt(highest(ADVICE_REDUCE_CPU_PER_BATCH, 0.9, &loads), open + 0.1);
	loads.open_ns = 0.5 * loads.load_ns;
	open = highest(ADVICE_FEWER_OPENS, 0.74, &loads);
	cr_expect_gt(highest(ADVICE_FEWER_OPENS, 0.76, &loads), open + 0.1,
		     "half of the opening or more is in the function");
}

Test(grounds, more_threads_than_cores)
{
	struct load_facts facts = no_waits();

	facts.runnable_threads = 8;
	cr_expect_eq(judge_facts(&facts), CAUSE_TOO_MANY_THREADS, "32 on 16 cores");
	facts.runnable_threads = 7.9;
	cr_expect_eq(judge_facts(&facts), CAUSE_LOADER_CAPACITY);
}

/* Four workers use 50 % of a core each while they load: 2.8 loads are under way at a time. */
Test(grounds, workers_that_may_use_few_cores)
{
	struct load_facts facts = no_waits();
	double used = 50.0 / 45;

	facts.cores_allowed = used / 0.86;
	cr_expect_eq(judge_facts(&facts), CAUSE_NARROWED_CORES);
	facts.cores_allowed = used / 0.84;
	cr_expect_eq(judge_facts(&facts), CAUSE_LOADER_CAPACITY);
}

/* The training itself may use what is left of its mask since it began, as its workers do. */
Test(grounds, a_training_whose_mask_shrank)
{
	struct load_facts facts = no_waits();
	double used = 50.0 / 45;

	cores = facts.cores_allowed = used / 0.86;
	facts.cores_at_start = 2.01 * cores;
	cr_expect_eq(judge_facts(&facts), CAUSE_NARROWED_CORES);
	make(NULL, NULL);
	for (int i = 0; i < LOADS; i++) {
		series.handover_ns[i] = series.wait_ns[i];
		series.state[i] |= SERIES_READY_KNOWN | SERIES_READY;
	}
	cr_expect_eq(judge(&(struct cause_input){.loads = &TIMES, .facts = &facts}),
		     CAUSE_NARROWED_CORES, "receiving is slow for the same reason");
	facts.cores_at_start = 1.99 * cores;
	cr_expect_neq(judge_facts(&facts), CAUSE_NARROWED_CORES);
	/* On the cores that are left, the training itself runs, too. */
	cores = facts.cores_allowed = used / 0.6;
	facts.cores_at_start = 2.01 * cores;
	for (int share = 24; share < 27; share += 2) {
		make(NULL, NULL);
		series.main_cores = share / 100.0 * cores;
		cr_expect_eq(judge(&(struct cause_input){.loads = &TIMES, .facts = &facts}),
			     share > 25 ? CAUSE_NARROWED_CORES : CAUSE_LOADER_CAPACITY, "%d",
			     share);
	}
}

Test(grounds, memory_that_has_run_out)
{
	struct load_facts facts = no_waits();

	facts.swapped_bytes = 1e9;
	cr_expect_eq(judge_facts(&facts), CAUSE_MEMORY, "half of the time is unexplained");
	facts.no_core_ns = 0.2 * facts.load_ns;
	cr_expect_eq(judge_facts(&facts), CAUSE_LOADER_CAPACITY, "no core explains it");
	facts = no_waits();
	facts.major_faults = TIMES.samples;
	cr_expect_eq(judge_facts(&facts), CAUSE_MEMORY);
	facts.major_faults = TIMES.samples - 1;
	cr_expect_eq(judge_facts(&facts), CAUSE_LOADER_CAPACITY);
}

static double slow_at_times(int batch)
{
	return batch % 100 < 6 ? 300 : 40;
}

Test(grounds, workers_are_slow_together_or_nobody_knows)
{
	for (int together = 0; together < 2; together++) {
		make(together ? slow_at_times : NULL, NULL);
		for (int i = 0; i < LOADS; i++) {
			bool waits = i % 100 < 6;

			if (!together)
				series.load_ns[i] = (float)(40 * MS);
			series.wait_ns[i] = (float)(waits ? 200 * MS : 0.1 * MS);
		}
		cr_expect_eq(judge(NULL),
			     together ? CAUSE_INTERMITTENT_LOADER : CAUSE_UNEXPLAINED, "%s",
			     cause_names[diagnosis.cause]);
	}
}

/* Length of a load, ms: six in a hundred halt, so that the mean is just above four steps. */
static double halting(int batch)
{
	return batch % 100 < 6 ? 1200 : 40;
}

Test(grounds, halts_of_a_server_are_neither_capacity_nor_a_period)
{
	struct load_facts facts = no_waits();

	facts.wait_ns[LOAD_WAIT_SOCKET] = 0.6 * facts.load_ns;
	make(halting, NULL);
	for (int i = 0; i < LOADS; i++) {
		series.wait_ns[i] = (float)(i % 100 < 6 ? 1000 * MS : 0.1 * MS);
		series.compute_ns[i] = (float)(22 * MS);
	}
	cr_expect_eq(judge(&(struct cause_input){.loads = &TIMES, .facts = &facts}),
		     CAUSE_INTERMITTENT_LOADER, "%s", cause_names[diagnosis.cause]);
	cr_expect_gt(finding.rho, 1, "%g", finding.rho);
	cr_expect_lt(finding.rho, 1.25, "%g", finding.rho);
	cr_expect_not(is_advised(ADVICE_MORE_LOADER_CAPACITY));
}

/* Short steps may be launches into a GPU's queue: batches are thrown away only if the GPU idles. */
Test(grounds, short_steps_with_a_gpu_are_not_thrown_away)
{
	for (int gpu = 0; gpu < 3; gpu++) {
		float busy_ns[LOADS];

		make(NULL, NULL);
		for (int i = 0; i < LOADS; i++) {
			series.compute_ns[i] = (float)(i < 240 ? 0.1 * MS : 30 * MS);
			series.wait_ns[i] = (float)(i < 240 ? 25 * MS : 5 * MS);
			busy_ns[i] = (float)(gpu == 2 || i >= 240 ? 10 * MS : 0);
		}
		series.gpu_busy_ns = gpu ? busy_ns : NULL;
		stall_judge(&series, &finding);
		cr_assert_eq(cause_find(&series, &finding, &(struct cause_input){.has_gpu = true},
					&diagnosis), 0);
		series.gpu_busy_ns = NULL;
		series_done(&series);
		cr_expect_eq(diagnosis.skipped.count, gpu == 1 ? 240 : 0);
	}
}

static double slow_first_epoch(int batch)
{
	return batch < LOADS / 2 ? 200 : 100;
}

/* A slow first epoch is no cold cache if its loads compute, or wait for a core. */
Test(grounds, a_first_epoch_that_computes_is_not_cold)
{
	struct load_facts facts = no_waits();

	epochs = 2;
	for (int crowded = 0; crowded < 2; crowded++) {
		facts.no_core_ns = crowded ? 0.45 * facts.load_ns : 0;
		make(slow_first_epoch, NULL);
		for (int i = LOADS / 2; i < LOADS; i++)
			series.wait_ns[i] = (float)(0.5 * MS);
		judge(&(struct cause_input){.loads = &TIMES, .facts = &facts});
		cr_expect_eq(diagnosis.cause == CAUSE_COLD_CACHE, !crowded, "%s",
			     cause_names[diagnosis.cause]);
		cr_expect_eq(is_advised(ADVICE_WARM_CACHE), !crowded);
	}
}

Test(grounds, waits_that_end_within_the_run)
{
	for (int from_end = 0; from_end < 2; from_end++) {
		make(NULL, NULL);
		for (int i = 0; i < 100; i++)
			series.wait_ns[from_end ? 300 + i : i] = (float)(0.1 * MS);
		judge(NULL);
		cr_expect_eq(diagnosis.grounds.calm.last, from_end ? 100 : 0);
		cr_expect_eq(diagnosis.grounds.calm.first, from_end ? 0 : 100);
	}
	make(NULL, NULL);
	memcpy(series.handover_ns, series.wait_ns, 100 * sizeof(*series.wait_ns)); /* were ready */
	judge(NULL);
	cr_expect_eq(diagnosis.grounds.calm.first + diagnosis.grounds.calm.last, 0);
}

/* Stack samples of the thread that held the interpreter while the training waited. */
Test(grounds, a_thread_that_was_seen_to_hold_the_interpreter)
{
	struct line_share held[] = {{.share = 0.5}, {.share = 0.25}};
	struct load_facts facts = no_waits();
	struct lines lines = {.asking_share = NAN, .most_sampling = NAN, .least_sampling = NAN,
			      .making_share = NAN, .making_error = NAN, .single_share = NAN,
			      .compiling_share = NAN};
	const struct cause_input input = {.facts = &facts, .lines = &lines};

	facts.threads[0] = (struct load_thread){"feature", 1e9};
	facts.thread_count = 1;
	lines.holders[LINE_WAITS] = (struct line_lead){held, 2, 400, 400 * 20e6};
	cr_expect_eq(judge_delivery(0, 0, 0, 201, &input), CAUSE_INTERPRETER_HELD);
	cr_expect(diagnosis.grounds.holder.is_line);
	cr_expect_float_eq(diagnosis.grounds.holder.share, 0.75, 1e-9, "of both lines");
	cr_expect_eq(diagnosis.grounds.holder.cpu_ns, 1e9);
	held[1].share = 0.04;
	cr_expect_eq(judge_delivery(0, 0, 0, 201, &input), CAUSE_DELIVERY, "half may be less");
	held[1].share = 0.25;
	lines.holders[LINE_WAITS].samples = 29;
	cr_expect_eq(judge_delivery(0, 0, 0, 201, &input), CAUSE_DELIVERY, "too few samples");
}
