/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the causes that are found in runs of the model, and the advice for them. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "analysis/cause/advice.h"
#include "analysis/cause/cause.h"
#include "analysis/cause/lines.h"
#include "analysis/cause/useless.h"
#include "model.h"

#define MS 1e6

static void expect(const struct model *m, enum cause cause, enum advice_id advice)
{
	model_diagnose(m);
	cr_assert_eq(diagnosis.cause, cause, "%s, not %s", cause_names[diagnosis.cause],
		     cause_names[cause]);
	cr_assert_eq(diagnosis.advice.steps[0].id, advice, "%s",
		     advice_names[diagnosis.advice.steps[0].id]);
	series_done(&series);
}
/*
 * Diagnoses epochs whose iterators take 2 s to make. sample_ms: time of choosing samples in that;
 * NAN: unknown. sampled: the least share of it by samples of stacks.
 */
static int starts = 6;

static void diagnose_starts_by(float sample_ms, double sampled)
{
	const struct lines lines = {.most_sampling = 1, .least_sampling = sampled};
	struct model m = HEALTHY;

	m.epochs = starts;
	m.batches = 50;
	model_run(&m);
	for (int epoch = 0; epoch < m.epochs; epoch++) {
		const struct series_epoch e = {.epoch = epoch,
					       .begin_ns = UNKNOWN,
					       .setup_ns = (float)(2000 * MS),
					       .boot_ns = NAN,
					       .sample_ns = sample_ms * (float)MS,
					       .stop_begin_ns = UNKNOWN};

		cr_assert_eq(series_add_epoch(&series, &e), 0);
	}
	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, &(struct cause_input){.lines = &lines},
				&diagnosis),
		     0);
	series_done(&series);
}

static void diagnose_starts(float sample_ms)
{
	diagnose_starts_by(sample_ms, NAN);
}

/* A sampler may choose an epoch's samples in __iter__(), which is not recorded: stacks tell. */
Test(cause, samples_that_are_chosen_in_iter)
{
	diagnose_starts_by(0, 0.8);
	cr_expect_eq(diagnosis.cause, CAUSE_SAMPLER);
	cr_expect_float_eq(diagnosis.start_sampling_ns,
			   0.8 * finding.account.part_ns[ACCOUNT_EPOCH_START], MS);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_VECTORISE_SAMPLER);
	cr_expect_gt(diagnosis.advice.steps[0].gain, 0.2);
	diagnose_starts_by(0, 0.5);
	cr_expect_float_eq(diagnosis.start_sampling_ns,
			   0.5 * finding.account.part_ns[ACCOUNT_EPOCH_START], MS,
			   "half is enough");
	diagnose_starts_by(0, 0.4);
	cr_expect_eq(diagnosis.cause, CAUSE_EPOCH_START);
	starts = 1;
	diagnose_starts_by(0, 0.8);
	cr_expect_neq(diagnosis.cause, CAUSE_SAMPLER, "a first epoch's iter() is start-up");
}

Test(cause, samples_that_are_chosen_when_an_epoch_begins)
{
	const double start_ns = 10000 * MS; /* of the five epochs after the first */
	double share;

	diagnose_starts(1900);
	share = finding.account.share[ACCOUNT_EPOCH_START];
	cr_expect_eq(diagnosis.cause, CAUSE_SAMPLER);
	cr_expect_float_eq(diagnosis.start_sampling_ns / start_ns, 0.95, 1e-6);
	cr_expect_float_eq(diagnosis.causes[0].ns / start_ns, 0.95, 1e-6);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_VECTORISE_SAMPLER);
	cr_expect_gt(diagnosis.advice.steps[0].gain, 0.2);
	cr_expect_lt(diagnosis.whatif.gain[WHATIF_PERSISTENT], ADVICE_GAIN);

	diagnose_starts(100);
	cr_expect_float_eq(finding.account.share[ACCOUNT_EPOCH_START], share, 0.02,
			   "the account is the same");
	cr_expect_eq(diagnosis.cause, CAUSE_EPOCH_START);
	cr_expect_eq(diagnosis.start_sampling_ns, 0);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_PERSISTENT_WORKERS);

	diagnose_starts(NAN);
	cr_expect_eq(diagnosis.cause, CAUSE_EPOCH_START, "where it was not observed");
	cr_expect(isnan(finding.account.start_sampling_ns));
	cr_expect_lt(whatif_gain_of(&diagnosis.whatif, WHATIF_PERSISTENT).low, 0.01);
}

Test(cause, each_of_them)
{
	struct model m = HEALTHY;

	expect(&m, CAUSE_NONE, ADVICE_NONE);

	m.load = 800;
	expect(&m, CAUSE_LOADER_CAPACITY, ADVICE_MORE_LOADER_CAPACITY);
	m.cpu_share = 0.95;
	m.cores = 4;
	expect(&m, CAUSE_CPU_CONTENTION, ADVICE_REDUCE_CPU_PER_BATCH);
	m.cores = 16;
	expect(&m, CAUSE_LOADER_CAPACITY, ADVICE_MORE_LOADER_CAPACITY);

	m = HEALTHY;
	m.slow_worker = 2;
	m.slow_factor = 4;
	expect(&m, CAUSE_SLOW_WORKER, ADVICE_FIX_SLOW_WORKER);
	cr_assert_eq(diagnosis.slow.worker, 2);
	cr_assert_float_eq(diagnosis.slow.factor, 4, 0.3);
	cr_assert_eq(diagnosis.wait.batches, 4);

	m = HEALTHY;
	m.rare_share = 0.02;
	m.rare_factor = 10;
	m.batches = 2000;
	expect(&m, CAUSE_HEAD_OF_LINE, ADVICE_PREFETCH_OR_IN_ORDER_FALSE);

	m = HEALTHY;
	m.every = 30;
	m.rare_factor = 12;
	expect(&m, CAUSE_PERIODIC_SLOW_LOAD, ADVICE_SMOOTH_SHARD_OPENING);
	cr_assert_eq(diagnosis.load.batches, 30);

	m = HEALTHY;
	m.epochs = 4;
	m.load = 150;
	m.cold_factor = 6;
	expect(&m, CAUSE_COLD_CACHE, ADVICE_WARM_CACHE);

	m = HEALTHY;
	m.epochs = 8;
	m.batches = 50;
	m.start = 3000;
	expect(&m, CAUSE_EPOCH_START, ADVICE_PERSISTENT_WORKERS);

	m = HEALTHY;
	m.delivery = 9;
	expect(&m, CAUSE_DELIVERY, ADVICE_CHEAPER_STEP);
	cr_assert_eq(diagnosis.advice.steps[1].id, ADVICE_INSPECT_WAITS);
	m.delivery = 15;
	expect(&m, CAUSE_DELIVERY, ADVICE_INSPECT_WAITS);

	m = HEALTHY;
	m.pause_every = 60;
	expect(&m, CAUSE_MAIN_THREAD_PERIODIC, ADVICE_REDUCE_MAIN_THREAD_EVENT);
	cr_assert_eq(diagnosis.compute.batches, 60);
	cr_assert_float_eq(diagnosis.compute_share, 20.0 / 80, 0.01);

	m = HEALTHY;
	m.workers = 0;
	expect(&m, CAUSE_SINGLE_PROCESS, ADVICE_USE_WORKERS);
	cr_assert_eq(diagnosis.whatif.use_workers, diagnosis.whatif.needed_workers);
	cr_assert_eq(diagnosis.whatif.needed_workers, 2);

	/* With one batch an epoch, workers would be started anew for each batch. */
	m.epochs = 200;
	m.batches = 1;
	expect(&m, CAUSE_SINGLE_PROCESS, ADVICE_INSPECT_LOADS);
}

/* Loads that are slow together have another cause than batches that wait behind one slow load. */
Test(cause, intermittent)
{
	struct model m = HEALTHY;

	m.burst = true;
	m.spread = 0.05;
	m.load = 150;
	m.batches = 3000;
	expect(&m, CAUSE_INTERMITTENT_LOADER, ADVICE_PREFETCH_OR_IN_ORDER_FALSE);
	cr_assert(finding.rho < 0.9);
	cr_assert(diagnosis.queued_share < 0.5, "%g", diagnosis.queued_share);
}

Test(cause, a_slow_worker_needs_all_three)
{
	struct model m = HEALTHY;

	m.slow_worker = 1;
	m.slow_factor = 1.25; /* not slow enough */
	m.load = 500;
	model_diagnose(&m);
	cr_assert_eq(diagnosis.slow.worker, -1);
	series_done(&series);
	m.load = 800;
	m.spread = 0;
	m.slow_factor = 0; /* all stalls fall on one worker, though no worker is slow */
	model_diagnose(&m);
	cr_assert_eq(diagnosis.slow.worker, -1);
	cr_assert_eq(diagnosis.wait.batches, 4);
	series_done(&series);
}
Test(stall_asynchronous, the_drain_ratio_decides)
{
	static const struct {
		double sync_ms;
		enum stall_verdict verdict;
		enum stall_gap gap;
	} cases[] = {
		{4000, STALL_VERDICT_NOT, STALL_GAP_NONE},
		{300, STALL_VERDICT_HIGHLY, STALL_GAP_NONE},
		{600, STALL_VERDICT_INCOMPLETE, STALL_GAP_ASYNCHRONOUS},
	};

	for (size_t c = 0; c < 3; c++) {
		series_init(&series);
		series.workers = 4;
		series.synchronous = 0;
		for (int i = 0; i < 1000; i++) {
			struct batch_row row = BATCH_ROW_UNKNOWN;

			row.batch = i;
			row.wait_ns = (int64_t)(90 * MS);
			row.compute_ns = (int64_t)((i % 20 == 19 ? cases[c].sync_ms : 10) * MS);
			row.head_ready = 0;
			cr_assert_eq(series_append(&series, &row), 0);
		}
		stall_judge(&series, &finding);
		cr_assert_eq(finding.verdict, cases[c].verdict, "%zu: D = %g", c,
			     finding.drain_ratio);
		cr_assert_eq(finding.gap, cases[c].gap);
		series_done(&series);
	}
}

Test(stall_asynchronous, the_idle_time_of_the_gpu_counts)
{
	series_init(&series);
	series.workers = 2;
	series.synchronous = 0;
	for (int i = 0; i < 200; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.batch = i;
		row.wait_ns = (int64_t)(90 * MS);
		row.compute_ns = (int64_t)(10 * MS);
		row.gpu_idle_ns = i % 2 ? (int64_t)(30 * MS) : 0;
		row.gpu_busy_ns = (int64_t)(80 * MS);
		row.load_ns = (int64_t)(80 * MS);
		cr_assert_eq(series_append(&series, &row), 0);
	}
	stall_judge(&series, &finding);
	cr_assert_float_eq(finding.stall_ratio, 0.15, 0.001);
	cr_assert_float_eq(finding.rho, 0.5, 1e-6);
	cr_assert(finding.by_gpu);
	series_done(&series);
}

Test(advice, names_are_there)
{
	for (int i = CAUSE_UNKNOWN + 1; i < CAUSE_MAX; i++)
		cr_assert_not_null(cause_names[i]);
	for (int i = 0; i < ADVICE_MAX; i++)
		cr_assert_not_null(advice_names[i]);
	for (int i = 0; i < USELESS_MAX; i++)
		cr_assert_not_null(useless_words[i]);
	for (int i = 0; i < WHATIF_MAX; i++)
		cr_assert_not_null(whatif_name(NULL, i));
}

static void give(enum cause cause)
{
	diagnosis.cause = cause;
	diagnosis.causes[0] = (struct cause_cost){cause, 1e9, 0.3};
	diagnosis.cause_count = 1;
	cr_assert_eq(advice_give(&series, &finding, &(struct cause_input){0}, &diagnosis), 0);
}

/* No step is recommended from which the replay predicts no gain. */
Test(advice, recommends_nothing_that_brings_nothing)
{
	double *gain = diagnosis.whatif.gain;
	const struct advice *first = &diagnosis.advice.steps[0];
	struct model m = HEALTHY;

	m.load *= 6;
	m.cpu_share = 0.95;
	model_diagnose(&m);
	gain[WHATIF_LOAD_HALF] = 0.01;
	gain[WHATIF_MORE_WORKERS] = gain[WHATIF_PREFETCH_X4] = gain[WHATIF_IN_ORDER_FALSE] = 0;
	/* Then the advice is what to look at; the account limits its gain. */
	give(CAUSE_CPU_CONTENTION);
	cr_expect_eq(diagnosis.advice.count, 1);
	cr_expect_eq(first->id, ADVICE_INSPECT_LOADS);
	cr_expect(first->is_ideal && first->whatif < 0);
	cr_expect_float_eq(first->gain, finding.gain_max - 1, 1e-9);
	gain[WHATIF_MORE_WORKERS] = 0.3;
	give(CAUSE_CPU_CONTENTION);
	cr_expect_eq(diagnosis.advice.count, 1);
	cr_expect_eq(first->id, ADVICE_MORE_LOADER_CAPACITY);
	cr_expect_eq(first->whatif, WHATIF_MORE_WORKERS);
	cr_expect_eq(first->gain, 0.3);
	gain[WHATIF_LOAD_HALF] = 0.2;
	give(CAUSE_CPU_CONTENTION);
	cr_expect_eq(first->id, ADVICE_REDUCE_CPU_PER_BATCH);
	series_done(&series);
}

/* More workers may gain nothing if loads wait for something shared: a sure gain goes first. */
Test(advice, puts_what_surely_helps_before_what_may_bring_nothing)
{
	struct whatif *w = &diagnosis.whatif;
	const struct advice *steps = diagnosis.advice.steps;
	struct model m = HEALTHY;

	m.load *= 6;
	model_diagnose(&m);
	for (int is_sure = 0; is_sure < 2; is_sure++) {
		for (int id = 0; id < WHATIF_MAX; id++)
			w->gain[id] = NAN;
		w->outside_share = 0.9;
		w->gain[WHATIF_MORE_WORKERS] = 0.3;
		w->gain[WHATIF_PREFETCH_X4] = 0.31;
		w->low_per_s[WHATIF_MORE_WORKERS] =
			w->batches_per_s[WHATIF_BASELINE] * (is_sure ? 1.2 : 1);
		w->low_per_s[WHATIF_PREFETCH_X4] = 1.2 * w->batches_per_s[WHATIF_BASELINE];
		give(CAUSE_PERIODIC_SLOW_LOAD);
		/* steps[0] is one whose gain the account limits. */
		cr_expect_eq(steps[2 - is_sure].id, ADVICE_MORE_LOADER_CAPACITY);
		cr_expect_eq(steps[1 + is_sure].id, ADVICE_PREFETCH_OR_IN_ORDER_FALSE);
	}
	series_done(&series);
}

/* The threads that load hardly use the CPU, but other threads of the workers may. */
Test(advice, counts_the_cpu_time_of_a_workers_other_threads)
{
	struct model m = HEALTHY;
	bool found = false;

	m.load *= 6;
	m.cpu_share = 0.02;
	model_diagnose(&m);
	for (int id = 0; id < WHATIF_MAX; id++)
		diagnosis.whatif.gain[id] = id == WHATIF_LOAD_HALF ? 0.3 : NAN;
	for (int is_seen = 0; is_seen < 2; is_seen++) {
		series.worker_threads = is_seen ? 2.1 : NAN;
		give(CAUSE_TOO_MANY_THREADS);
		for (size_t i = 0; i < diagnosis.advice.count; i++)
			found |= diagnosis.advice.steps[i].id == ADVICE_REDUCE_CPU_PER_BATCH;
		cr_expect_eq(found, is_seen);
	}
	series_done(&series);
}

/* If other threads do nothing, the CPU time of the loads' own threads fills the cores. */
Test(advice, bounds_one_thread_a_worker_by_the_cpu_time_of_its_own_thread)
{
	const struct advice *first = &diagnosis.advice.steps[0];
	struct model m = HEALTHY;
	double batch_ns, least_ns;

	m.load *= 6;
	for (int is_working = 0; is_working < 2; is_working++) {
		m.cpu_share = is_working ? 0.4 : 0.02;
		m.cores = 2;
		model_diagnose(&m);
		give(CAUSE_TOO_MANY_THREADS);
		cr_assert_eq(first->id, ADVICE_LIMIT_THREADS);
		batch_ns = finding.steady_ns / (double)finding.steady_count;
		least_ns = m.cpu_share * finding.load_mean_ns / 2;
		cr_expect_lt(is_working ? batch_ns / least_ns : finding.gain_alone,
			     is_working ? finding.gain_alone : batch_ns / least_ns);
		cr_expect_float_eq(first->gain + 1,
				   is_working ? batch_ns / least_ns : finding.gain_alone, 0.05);
		series_done(&series);
	}
}

/* A longer queue leaves the samples in their order. */
Test(advice, prefers_a_longer_queue_to_another_order_if_their_gains_are_alike)
{
	struct whatif *w = &diagnosis.whatif;
	struct model m = HEALTHY;

	m.load *= 6;
	model_diagnose(&m);
	for (int is_alike = 0; is_alike < 2; is_alike++) {
		for (int id = 0; id < WHATIF_MAX; id++) {
			w->gain[id] = NAN;
			w->low_per_s[id] = 1.1 * w->batches_per_s[WHATIF_BASELINE];
		}
		w->gain[WHATIF_PREFETCH_X4] = 0.21;
		w->gain[WHATIF_IN_ORDER_FALSE] = is_alike ? 0.23 : 0.4;
		give(CAUSE_HEAD_OF_LINE);
		cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_PREFETCH_OR_IN_ORDER_FALSE);
		cr_expect_eq(diagnosis.advice.steps[0].whatif,
			     is_alike ? WHATIF_PREFETCH_X4 : WHATIF_IN_ORDER_FALSE);
	}
	series_done(&series);
}

/* Persistent workers gain no more than the time in which epochs start and end. */
Test(advice, bounds_persistent_workers_by_the_starts)
{
	const struct advice *first = &diagnosis.advice.steps[0];
	struct whatif *w = &diagnosis.whatif;
	struct model m = HEALTHY;

	m.load *= 6;
	model_diagnose(&m);
	for (int id = 0; id < WHATIF_MAX; id++)
		w->gain[id] = NAN;
	for (int is_long = 0; is_long < 2; is_long++) {
		finding.account.share[ACCOUNT_EPOCH_START] = is_long ? 0.15 : 0.02;
		finding.account.share[ACCOUNT_EPOCH_END] = is_long ? 0.05 : 0.01;
		give(CAUSE_EPOCH_START);
		cr_expect_eq(first->id == ADVICE_PERSISTENT_WORKERS, is_long);
		if (is_long)
			cr_expect_float_eq(first->gain, 0.25, 1e-9);
	}
	/* A replay that gains, but not surely, leaves this bound; one that gains nothing, none. */
	w->low_per_s[WHATIF_PERSISTENT] = 0.9 * w->batches_per_s[WHATIF_BASELINE];
	for (int gains = 0; gains < 2; gains++) {
		w->gain[WHATIF_PERSISTENT] = gains ? 0.3 : 0.02;
		give(CAUSE_EPOCH_START);
		cr_expect_eq(first->id == ADVICE_PERSISTENT_WORKERS, gains);
		if (gains)
			cr_expect_float_eq(first->gain, 0.25, 1e-9);
	}
	series_done(&series);
}

/* Loads wait for cores 30 % of their time; other programs take a fifth or half of the cores. */
Test(advice, offers_cores_of_its_own_where_other_programs_take_many)
{
	const struct load_facts facts = {.load_ns = 1e9};
	struct model m = HEALTHY;

	m.load *= 6;
	m.cpu_share = 0.95;
	for (int is_half = 0; is_half < 2; is_half++) {
		struct cause_input input = {.facts = &facts};

		m.cores = is_half ? 8 : 5;
		m.other_cores = is_half ? 4 : 1;
		model_diagnose(&m);
		diagnosis.grounds.no_core_share = 0.3;
		diagnosis.cause = CAUSE_CPU_CONTENTION;
		cr_assert_eq(advice_give(&series, &finding, &input, &diagnosis), 0);
		cr_expect_eq(diagnosis.advice.steps[0].id == ADVICE_OWN_CORES, is_half, "%d: %s",
			     is_half, advice_names[diagnosis.advice.steps[0].id]);
		cr_expect_not(is_half && diagnosis.advice.steps[0].is_ideal);
		series_done(&series);
	}
}

static const struct load_facts *part_facts;

/* Returns the recommended step that is about a part of the loads; ADVICE_NONE: there is none. */
static enum advice_id part(const struct model *m, struct load_times loads)
{
	enum advice_id id = ADVICE_NONE;

	model_run(m);
	stall_judge(&series, &finding);
	cr_assert_eq(
		cause_find(&series, &finding,
			   &(struct cause_input){.loads = &loads, .facts = part_facts}, &diagnosis),
		0);
	for (size_t i = 0; i < diagnosis.advice.count; i++) {
		const struct advice *step = &diagnosis.advice.steps[i];

		if (step->id != ADVICE_DECODE_BOUND && step->id != ADVICE_STORAGE_BOUND &&
		    step->id != ADVICE_SMALL_READS)
			continue;
		cr_assert_eq(id, ADVICE_NONE);
		id = step->id;
		cr_assert(step->gain >= ADVICE_GAIN && !step->is_ideal);
		cr_assert(step->low <= step->gain && step->gain <= step->high);
	}
	series_done(&series);
	return id;
}

/* The largest part of a load becomes a step, if loads limit the training. */
Test(advice, says_which_part_of_a_load_to_begin_with)
{
	struct load_facts facts = load_facts_unknown();
	struct model m = HEALTHY;
	struct load_times loads = {.load_ns = 100,
				   .decode_ns = 60,
				   .open_ns = 5,
				   .read_ns = 10,
				   .read_count = 10,
				   .read_bytes = 1e7,
				   .samples = 10};

	m.load *= 6;
	cr_expect_eq(part(&m, loads), ADVICE_DECODE_BOUND);
	loads.decode_ns = 39;
	cr_expect_neq(part(&m, loads), ADVICE_DECODE_BOUND);
	loads.decode_ns = NAN;
	loads.read_ns = 50;
	cr_expect_eq(part(&m, loads), ADVICE_STORAGE_BOUND);
	loads.read_count = 100;
	loads.read_bytes = 100 * 4096;
	cr_expect_eq(part(&m, loads), ADVICE_SMALL_READS);
	loads.open_ns = loads.read_ns = loads.load_ns = NAN;
	cr_expect_neq(part(&m, loads), ADVICE_SMALL_READS);
	loads.decode_ns = loads.load_ns = 1; /* nothing but decoding */
	cr_expect_eq(part(&m, loads), ADVICE_DECODE_BOUND);
	/* A fifth is enough if most of what is decoded is not in the batch, as the page says. */
	loads = (struct load_times){.load_ns = 100, .decode_ns = 21, .samples = 10};
	part_facts = &facts;
	facts.load_ns = 100;
	for (facts.decoded_per_byte = 7; facts.decoded_per_byte < 9; facts.decoded_per_byte++)
		cr_expect_eq(part(&m, loads) == ADVICE_DECODE_BOUND, facts.decoded_per_byte == 8);
	facts.decoded_per_byte = 8;
	loads.decode_ns = 19;
	cr_expect_neq(part(&m, loads), ADVICE_DECODE_BOUND);
	m = HEALTHY;
	cr_expect_eq(part(&m, loads), ADVICE_NONE);
}
