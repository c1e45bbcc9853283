/* SPDX-License-Identifier: Apache-2.0 */
/* Compares predictions with runs of the model. */
#include <criterion/criterion.h>
#include <math.h>

#include "model.h"

#define MS 1e6

/* Compares the replay with a run of the model that has the other setting. */
Test(whatif, predicts_what_the_model_does)
{
	struct model m = HEALTHY, other;
	struct whatif w;

	m.load = 700;
	m.spread = 0.8;
	m.batches = 4000;
	model_diagnose(&m);
	w = diagnosis.whatif;
	/* Ideal input saves all waiting in the account. */
	cr_assert_float_eq(w.gain[WHATIF_SYNTHETIC], 1 / (1 - finding.account.ratio) - 1, 1e-12);
	cr_assert(isnan(w.batches_per_s[WHATIF_FIX_SLOW_WORKER])); /* all workers are as fast */
	/* The baseline has the measured speed, even if the replay differs. */
	cr_assert_float_eq(w.batches_per_s[WHATIF_BASELINE] * finding.account.time_ns / 1e9,
			   (double)series.count, 1e-6);
	series_done(&series);
	cr_assert_float_eq(w.batches_per_s[WHATIF_BASELINE] / model_truth(&m), 1, 0.02);
	other = m;
	other.workers *= 2;
	cr_assert_float_eq(w.batches_per_s[WHATIF_WORKERS_X2] / model_truth(&other), 1, 0.03);
	other = m;
	other.load /= 2;
	cr_assert_float_eq(w.batches_per_s[WHATIF_LOAD_HALF] / model_truth(&other), 1, 0.03);
	other = m;
	other.prefetch *= 4;
	cr_assert_float_eq(w.batches_per_s[WHATIF_PREFETCH_X4] / model_truth(&other), 1, 0.03);
	other = m;
	other.workers = w.needed_workers;
	cr_assert_gt(model_truth(&other), 0.93 * w.batches_per_s[WHATIF_SYNTHETIC]);
	other.workers -= 2;
	cr_assert_lt(model_truth(&other), 0.97 * w.batches_per_s[WHATIF_SYNTHETIC]);
	cr_assert_float_eq(w.batches_per_s[WHATIF_SYNTHETIC], 10, 0.1);
	/* Out of order the four workers never idle: 4 batches in 700 ms. */
	cr_assert_float_eq(w.batches_per_s[WHATIF_IN_ORDER_FALSE], 4 / 0.7, 0.15);
}

Test(whatif, is_not_faster_than_the_cores)
{
	struct model m = HEALTHY;

	m.load = 800;
	m.cpu_share = 0.5;
	m.cores = 3; /* enough for 7.5 batches/s; 4 workers load 5 */
	model_diagnose(&m);
	cr_assert_float_eq(diagnosis.whatif.batches_per_s[WHATIF_WORKERS_X2], 7.3, 0.3);
	cr_assert_eq(diagnosis.whatif.needed_workers, -1);
	cr_assert(diagnosis.whatif.core_limited);
	cr_assert_float_eq(diagnosis.whatif.batches_per_s[WHATIF_LOAD_HALF], 9.9, 0.2);
	series_done(&series);

	/* The training uses half a core: 0.1 s of the 0.2 s that a batch takes. */
	m.main_cores = 0.5;
	model_diagnose(&m);
	cr_expect_float_eq(diagnosis.whatif.batches_per_s[WHATIF_WORKERS_X2], 3 / 0.5, 0.1);
	/* The replay's ratio is 0.07 at 6.4 batches/s; at the cores' 6 the training waits more. */
	cr_expect_float_eq(diagnosis.whatif.stall_ratio[WHATIF_WORKERS_X2], 0.13, 0.02);
	cr_assert_float_eq(diagnosis.whatif.batches_per_s[WHATIF_SYNTHETIC], 9.9, 0.2);
	series_done(&series);

	/* Programs of nice 19 leave their cores to more workers; programs of equal nice share. */
	m.cores = 4;
	m.other_cores = 1.25;
	m.other_nice = 19;
	model_diagnose(&m);
	cr_expect_float_eq(diagnosis.whatif.batches_per_s[WHATIF_WORKERS_X2], 7.6, 0.5);
	series_done(&series);
	m.other_cores = 4;
	m.other_nice = 0;
	model_diagnose(&m);
	cr_expect_lt(diagnosis.whatif.batches_per_s[WHATIF_WORKERS_X2], 6.5);
	cr_expect(diagnosis.whatif.shares_cores);
	cr_expect_eq(diagnosis.whatif.others_cores, 4);
	series_done(&series);
	m.other_cores = 0;

	/* A limit of cores need not be whole. A prediction is never below the measured speed. */
	m.cores = 2.75;
	model_diagnose(&m);
	cr_expect_float_eq(diagnosis.whatif.batches_per_s[WHATIF_WORKERS_X2], 2.75 / 0.5, 0.1);
	series_done(&series);
	m.cores = 2;
	model_diagnose(&m);
	cr_assert_float_eq(diagnosis.whatif.batches_per_s[WHATIF_WORKERS_X2], 5, 0.1);
	series_done(&series);
}

/* Wishes get the same predictions as the table's rows, and may combine settings. */
Test(whatif, answers_wishes)
{
	const struct whatif_wish wishes[] = {
		{"workers=8", 8, -1, -1, NAN},
		{"in_order=false,load=0.5", -1, -1, 0, 0.5},
		{"workers=2", 2, -1, -1, NAN},
	};
	struct model m = HEALTHY, other;
	struct whatif *w = &diagnosis.whatif;

	m.load = 700;
	m.spread = 0.8;
	m.batches = 1000;
	model_diagnose(&m);
	cr_assert_eq(whatif_ask(&series, &finding, wishes, 3, w), 0);
	cr_assert_eq(w->wish_count, 3);
	cr_assert_str_eq(whatif_name(w, WHATIF_MAX + 1), "in_order=false,load=0.5");
	cr_assert_eq(w->batches_per_s[WHATIF_MAX], w->batches_per_s[WHATIF_WORKERS_X2]);
	cr_assert_eq(w->low_per_s[WHATIF_MAX], w->low_per_s[WHATIF_WORKERS_X2]);
	cr_assert_eq(w->gain[WHATIF_MAX], w->gain[WHATIF_WORKERS_X2]);
	cr_assert_gt(w->gain[WHATIF_MAX + 1], w->gain[WHATIF_LOAD_HALF]);
	series_done(&series);
	other = m;
	other.workers = 2;
	cr_assert_float_eq(w->batches_per_s[WHATIF_MAX + 2] / model_truth(&other), 1, 0.03);
}

/* The range contains the speed of a long run; it is narrow if all loads take equally long. */
Test(whatif, has_a_range_where_the_run_is_short)
{
	struct model m = HEALTHY, other;
	double rate, sum = 0, squares = 0, width = 0, deviation;
	int held = 0, i;

	m.load = 700;
	m.spread = 0.9;
	other = m;
	other.workers *= 2;
	other.batches = 4000;
	rate = model_truth(&other);
	m.batches = 104;
	for (i = 0; i < 60; i++) {
		const struct whatif *w = &diagnosis.whatif;

		model_diagnose(&m);
		series_done(&series);
		sum += w->batches_per_s[WHATIF_WORKERS_X2];
		squares +=
			w->batches_per_s[WHATIF_WORKERS_X2] * w->batches_per_s[WHATIF_WORKERS_X2];
		width += w->high_per_s[WHATIF_WORKERS_X2] - w->low_per_s[WHATIF_WORKERS_X2];
		held += w->low_per_s[WHATIF_WORKERS_X2] <= rate &&
			rate <= w->high_per_s[WHATIF_WORKERS_X2];
		cr_assert_eq(w->gap, WHATIF_GAP_NONE, "%d %g", w->gap, w->off);
		cr_assert_leq(w->low_per_s[WHATIF_BASELINE], w->batches_per_s[WHATIF_BASELINE]);
		cr_assert_geq(w->high_per_s[WHATIF_BASELINE], w->batches_per_s[WHATIF_BASELINE]);
	}
	cr_assert_geq(held, 48, "%d of 60", held);
	/* The range is not too wide: less than six standard deviations of the predictions. */
	deviation = sqrt(squares / 60 - sum / 60 * (sum / 60));
	cr_assert_lt(width / 60, 6 * deviation, "%g, %g", width / 60, deviation);
	m.spread = 0.01;
	model_diagnose(&m);
	cr_assert_lt(diagnosis.whatif.high_per_s[WHATIF_WORKERS_X2],
		     1.25 * diagnosis.whatif.low_per_s[WHATIF_WORKERS_X2]);
	series_done(&series);
	m.batches = 4000;
	model_diagnose(&m);
	for (i = 0; i < WHATIF_MAX; i++) {
		const struct whatif *w = &diagnosis.whatif;

		cr_assert(isnan(w->batches_per_s[i]) || (w->low_per_s[i] <= w->batches_per_s[i] &&
							 w->batches_per_s[i] <= w->high_per_s[i]));
	}
	series_done(&series);
}

/* Without workers the main process's CPU time includes the loads. */
Test(whatif, does_not_count_the_loads_of_a_single_process_twice)
{
	struct model m = HEALTHY;

	m.workers = 0;
	m.load = 300;
	m.cpu_share = 1;
	m.main_cores = 0.75; /* 300 ms, those of the load, of each 400 ms */
	m.cores = 1;
	model_diagnose(&m);
	cr_assert_float_eq(diagnosis.whatif.batches_per_s[WHATIF_USE_WORKERS], 1 / 0.3, 0.05);
	series_done(&series);
}

Test(whatif, a_slow_worker_stays_slow_among_more)
{
	struct model m = HEALTHY;

	m.slow_worker = 2;
	m.slow_factor = 5;
	model_diagnose(&m);
	/* The slow worker takes 1 s a batch, and gets every eighth instead of every fourth. */
	cr_assert_float_eq(diagnosis.whatif.batches_per_s[WHATIF_BASELINE], 4, 0.1);
	cr_assert_float_eq(diagnosis.whatif.batches_per_s[WHATIF_WORKERS_X2], 8, 0.2);
	cr_assert_float_eq(diagnosis.whatif.batches_per_s[WHATIF_FIX_SLOW_WORKER], 9.95, 0.1);
	series_done(&series);
}

Test(whatif, says_nothing_of_what_it_does_not_know)
{
	struct model m = HEALTHY;

	model_run(&m);
	series.workers = -1;
	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, NULL, &diagnosis), 0);
	for (int id = 0; id < WHATIF_MAX; id++)
		cr_assert(isnan(diagnosis.whatif.gain[id]));
	cr_assert_eq(diagnosis.whatif.needed_workers, -1);
	series_done(&series);
}

/* Every second load is long in any worker; with four workers it falls to the same two. */
Test(whatif, loads_that_alternate_are_no_slow_workers)
{
	struct model m = HEALTHY, other;
	const struct whatif *w = &diagnosis.whatif;

	m.every = 2;
	m.rare_factor = 6;
	m.load = 120;
	model_diagnose(&m);
	series_done(&series);
	cr_assert(isnan(w->batches_per_s[WHATIF_FIX_SLOW_WORKER]));
	other = m;
	other.workers *= 2;
	cr_assert_float_eq(w->batches_per_s[WHATIF_WORKERS_X2] / model_truth(&other), 1, 0.03);
	cr_assert_leq(w->low_per_s[WHATIF_WORKERS_X2], w->batches_per_s[WHATIF_WORKERS_X2]);
}

/* Ten epochs of 20 batches; to start the workers takes 0.5 s of an epoch's 2.5 s. */
Test(whatif, workers_that_stay_save_their_starts)
{
	struct model m = HEALTHY;
	const struct whatif *w = &diagnosis.whatif;

	m.epochs = 10;
	m.batches = 20;
	m.start = 500;
	model_diagnose(&m);
	series_done(&series);
	cr_assert_eq(w->gap, WHATIF_GAP_NONE);
	cr_assert_gt(w->gain[WHATIF_PERSISTENT], 0.15);
	cr_assert_leq(w->gain[WHATIF_PERSISTENT], w->gain[WHATIF_SYNTHETIC]);
	cr_assert_lt(w->stall_ratio[WHATIF_PERSISTENT], w->stall_ratio[WHATIF_BASELINE]);
}

/* If the waits do not follow from the loads, the replay differs, and nothing is predicted. */
Test(whatif, says_nothing_where_the_replay_differs_from_the_run)
{
	struct model m = HEALTHY;

	m.load = 700;
	model_run(&m);
	for (size_t i = 0; i < series.count; i++)
		series.load_ns[i] *= 2;
	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, NULL, &diagnosis), 0);
	cr_assert_eq(diagnosis.whatif.gap, WHATIF_GAP_OFF);
	cr_assert_not_null(whatif_gap_words[diagnosis.whatif.gap]);
	for (int id = 0; id < WHATIF_MAX; id++)
		cr_assert(isnan(diagnosis.whatif.gain[id]));
	series_done(&series);
}

static double between(double low, double high)
{
	return low + (high - low) * model_random_share();
}

static struct model any_model(void)
{
	struct model m = HEALTHY;

	m.workers = (int)between(0, 9);
	m.prefetch = (int)between(1, 5);
	m.epochs = (int)between(1, 5);
	m.batches = (int)between(25, 120);
	m.load = between(5, 900);
	m.spread = between(0, 0.9);
	m.compute = between(0.1, 200);
	m.delivery = between(0, 30);
	m.start = between(0, 400);
	m.cpu_share = between(0, 1);
	m.main_cores = between(0, 1.5);
	m.cores = ceil(between(0, 8));
	m.other_cores = fmax(0, between(-2, 3));
	if (m.workers && model_random_share() < 0.3) {
		m.slow_factor = between(1, 5);
		m.slow_worker = 0;
	}
	return m;
}

static void expect_possible(const struct whatif *w, const struct model *m)
{
	for (int id = 0; id < WHATIF_MAX; id++) {
		if (isnan(w->batches_per_s[id])) {
			cr_expect(isnan(w->stall_ratio[id]) && isnan(w->gain[id]));
			continue;
		}
		cr_expect(w->stall_ratio[id] >= 0 && w->stall_ratio[id] <= 1,
			  "%s: waiting %g; %d workers, load %g, step %g", whatif_name(w, id),
			  w->stall_ratio[id], m->workers, m->load, m->compute);
		cr_expect(w->low_per_s[id] <= w->batches_per_s[id] &&
				  w->batches_per_s[id] <= w->high_per_s[id],
			  "%s: %g in %g to %g", whatif_name(w, id), w->batches_per_s[id],
			  w->low_per_s[id], w->high_per_s[id]);
		cr_expect_leq(w->gain[id], finding.gain_alone - 1 + 1e-9);
		/* A gain is time saved in waits for batches, or for cores that workers used. */
		cr_expect_leq(w->stall_ratio[id],
			      1 - (1 + w->gain[id]) / finding.gain_alone + 1e-9);
	}
}

/* Whatever was recorded, predicted shares of time lie between 0 and 1. */
Test(whatif, waiting_is_between_none_and_all)
{
	int predicted = 0;

	for (int i = 0; i < 400; i++) {
		const struct model m = any_model();

		model_run(&m);
		series.main_share = between(0.2, 1.1);
		series.worker_share = between(0.2, 1.1);
		series.receive_count = series.count;
		series.receive_ns = fmax(0, between(-2, 2)) * MS * (double)series.count;
		stall_judge(&series, &finding);
		cr_assert_eq(cause_find(&series, &finding, NULL, &diagnosis), 0);
		series_done(&series);
		if (diagnosis.whatif.gap != WHATIF_GAP_NONE)
			continue;
		predicted++;
		cr_expect_eq(diagnosis.whatif.stall_ratio[WHATIF_BASELINE], finding.stall_ratio);
		expect_possible(&diagnosis.whatif, &m);
	}
	cr_assert_geq(predicted, 200, "%d", predicted);
}

/* Of 200 ms, a hand-over takes 100: with the setting, it may take half as long. */
Test(whatif, hand_overs_may_take_half_as_long)
{
	struct model m = HEALTHY;

	m.load = 100;
	m.delivery = 100;
	m.batches = 4000;
	model_diagnose(&m);
	series_done(&series);
	cr_expect_float_eq(diagnosis.whatif.batches_per_s[WHATIF_PREFETCH_X4], 5, 0.05);
	cr_expect_float_eq(diagnosis.whatif.high_per_s[WHATIF_PREFETCH_X4], exp(0.04) / 0.15, 0.07);
}

/* The training asks a second loader within its steps, and waits for it 40 ms of each 100. */
Test(whatif, waits_for_another_loader_are_waiting_in_each_prediction)
{
	const struct whatif *w = &diagnosis.whatif;
	struct model m = HEALTHY;
	double other_ns;

	m.load = 500; /* makes waits of 25 ms */
	model_run(&m);
	other_ns = 40 * MS * (double)series.count;
	for (size_t i = 0; i < series.count; i++)
		series.compute_ns[i] -= (float)(40 * MS);
	series.elsewhere_ns = other_ns;
	stall_judge(&series, &finding);
	struct account thread = finding.own;

	thread.wait_ns += other_ns;
	thread.step_ns -= other_ns;
	thread.ratio = thread.wait_ns / thread.time_ns;
	stall_judge_thread(&series, &thread, 0, &finding);
	cr_assert_float_eq(finding.stall_ratio, 65.0 / 125, 0.02);
	cr_assert_eq(cause_find(&series, &finding, NULL, &diagnosis), 0);
	series_done(&series);
	cr_assert_eq(w->stall_ratio[WHATIF_BASELINE], finding.stall_ratio);
	/* Twice the workers end the waits for this loader, and not those for the other one. */
	cr_expect_float_eq(w->gain[WHATIF_WORKERS_X2], 0.25, 0.03);
	cr_expect_float_eq(w->stall_ratio[WHATIF_WORKERS_X2], 0.40, 0.02);
	cr_expect_eq(w->stall_ratio[WHATIF_SYNTHETIC], 0);
}

/* Diagnoses a loader with loads of 100 ms and steps of 25 ms, of whose workers only some load. */
static void diagnose_idle(int loading, int workers)
{
	struct model m = HEALTHY;

	m.workers = loading;
	m.load = 100;
	m.spread = 0.05;
	m.compute = 25;
	m.epochs = 2;
	m.batches = 200;
	model_run(&m);
	series.workers = workers;
	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, NULL, &diagnosis), 0);
	series_done(&series);
}

/* As many workers load as there are shards: 1 of 4, and 2 of 8. */
Test(whatif, counts_the_workers_that_load)
{
	const struct whatif *w = &diagnosis.whatif;

	for (int loading = 1; loading <= 2; loading++) {
		diagnose_idle(loading, 4 * loading);
		cr_expect_float_eq(finding.rho, 100.0 / 25 / loading, 0.1, "%g", finding.rho);
		cr_expect_float_eq(finding.eta, 1, 0.05, "%g", finding.eta);
		cr_expect_eq(w->gap, WHATIF_GAP_NONE, "%s: %g", whatif_gap_words[w->gap], w->off);
		cr_expect(w->has_fixed_workers);
		cr_expect(isnan(w->gain[WHATIF_WORKERS_X2]));
		cr_expect_eq(w->needed_workers, -1);
		cr_expect_not(w->core_limited);
		/* Predictions that do not depend on the number of workers are made all the same. */
		cr_expect_gt(w->gain[WHATIF_LOAD_HALF], 0.8);
		cr_expect_eq(w->setups[WHATIF_BASELINE].workers, loading);
	}
}

static void predict_with(const struct load_facts *facts, const struct flight *flight)
{
	const struct cause_input input = {.facts = facts, .flight = flight};

	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, &input, &diagnosis), 0);
}

/* If loads wait for a server, that may be at its limit: then more workers gain nothing. */
Test(whatif, more_workers_may_bring_nothing_where_loads_wait_outside)
{
	const struct whatif *w = &diagnosis.whatif;
	struct load_facts facts = load_facts_unknown();
	struct flight flight = {.limit_per_s = NAN};
	struct model m = HEALTHY;
	double rate;

	m.load = 800;
	m.cores = 4;
	m.cpu_share = 0.9;
	model_run(&m);
	predict_with(NULL, NULL);
	cr_expect_float_eq(w->outside_share, 0.1, 0.02);
	cr_expect_gt(w->low_per_s[WHATIF_WORKERS_X2], w->batches_per_s[WHATIF_BASELINE]);
	/* An iterable dataset may have no shards for them. */
	series.iterable = 1;
	predict_with(NULL, NULL);
	cr_expect_eq(w->low_per_s[WHATIF_WORKERS_X2], w->batches_per_s[WHATIF_BASELINE]);
	cr_expect_gt(w->low_per_s[WHATIF_LOAD_HALF], w->batches_per_s[WHATIF_BASELINE]);
	series.iterable = 0;
	/* The share of waits outside is known by the waits themselves. */
	facts.load_ns = 100;
	facts.wait_ns[LOAD_WAIT_SOCKET] = 60;
	predict_with(&facts, NULL);
	cr_expect_float_eq(w->outside_share, 0.6, 1e-9);
	rate = w->batches_per_s[WHATIF_WORKERS_X2];
	cr_expect_float_eq(w->low_per_s[WHATIF_WORKERS_X2], w->batches_per_s[WHATIF_BASELINE],
			   1e-6);
	cr_expect_geq(w->high_per_s[WHATIF_WORKERS_X2], rate);
	cr_expect_gt(w->low_per_s[WHATIF_LOAD_HALF], w->batches_per_s[WHATIF_BASELINE]);
	series_done(&series);
	/* Without known waits it is all time without CPU. */
	m.cpu_share = 0.1;
	model_run(&m);
	predict_with(NULL, NULL);
	cr_expect_float_eq(w->outside_share, 0.9, 0.02);
	cr_expect_float_eq(w->low_per_s[WHATIF_MORE_WORKERS], w->batches_per_s[WHATIF_BASELINE],
			   1e-6);
	/* If a shared limit was found no number of workers is advised. */
	flight.limit_per_s = 5;
	predict_with(NULL, &flight);
	cr_expect_float_eq(w->batches_per_s[WHATIF_WORKERS_X2], w->batches_per_s[WHATIF_BASELINE],
			   0.1);
	cr_expect_eq(w->more_workers, -1);
	cr_expect(isnan(w->gain[WHATIF_MORE_WORKERS]));
	series_done(&series);
}

/* The advised number of workers is the needed one, and its gain is right. */
Test(whatif, advises_a_number_of_workers_that_can_be_used)
{
	const struct whatif *w = &diagnosis.whatif;
	struct model m = HEALTHY, other;
	double high_per_s;

	m.workers = 2;
	m.load = 1000;
	m.spread = 0.1;
	m.cores = 4;
	m.cpu_share = 0.05;
	model_diagnose(&m);
	series_done(&series);
	cr_expect_geq(w->more_workers, 10);
	cr_expect_leq(w->more_workers, 12);
	cr_expect_eq(w->more_workers, w->needed_workers);
	other = m;
	other.workers = w->more_workers;
	cr_expect_float_eq(w->batches_per_s[WHATIF_MORE_WORKERS] / model_truth(&other), 1, 0.03);
	high_per_s = w->high_per_s[WHATIF_LOAD_HALF];
	cr_expect_eq(w->core_lost, 0);
	/* Beside other programs the number stays, since these loads hardly need a core. */
	m.other_cores = 4;
	model_diagnose(&m);
	series_done(&series);
	cr_expect_leq(w->more_workers, 12);
	/* But a thread that wakes up may wait for a core beside other programs. */
	cr_expect_gt(w->core_lost, 0.1);
	cr_expect_gt(w->high_per_s[WHATIF_LOAD_HALF], high_per_s);
	m.other_cores = 0;
	/* At most 8 times as many workers are advised. */
	m.load = 4000;
	model_diagnose(&m);
	series_done(&series);
	cr_expect_eq(w->more_workers, 16);
	cr_expect_eq(w->needed_workers, -1);
	cr_expect_not(w->core_limited);
	/* Nor are more advised than the cores can keep at work. */
	m.cpu_share = 0.8;
	model_diagnose(&m);
	series_done(&series);
	cr_expect_eq(w->more_workers, 5);
	m.workers = 0;
	m.cpu_share = 0.05;
	model_diagnose(&m);
	series_done(&series);
	cr_expect_eq(w->use_workers, 16);
}

static void add_starts(const struct model *m, double setup_ms)
{
	for (int epoch = 0; epoch < m->epochs; epoch++) {
		const struct series_epoch e = {.epoch = epoch,
					       .begin_ns = UNKNOWN,
					       .stop_begin_ns = UNKNOWN,
					       .setup_ns = (float)(setup_ms * MS),
					       .boot_ns = NAN,
					       .stop_ns = (float)(100 * MS)};

		cr_assert_eq(series_add_epoch(&series, &e), 0);
	}
}

static void predict_starts(const struct model *m, double worker_share, double setup_ms)
{
	model_run(m);
	series.worker_share = worker_share;
	add_starts(m, setup_ms);
	predict_with(NULL, NULL);
	series_done(&series);
	cr_assert_eq(diagnosis.whatif.gap, WHATIF_GAP_NONE);
}

/* Returns a model with 16 workers on 2 cores, each of which gets an eighth of a core. */
static struct model crowded(void)
{
	struct model m = HEALTHY;

	m.workers = 16;
	m.epochs = 6;
	m.batches = 64;
	m.load = 1600;
	m.spread = 0.05;
	m.compute = 20;
	m.cores = 2;
	m.cpu_share = 0.125;
	return m;
}

/* To start 4 workers takes 2 s in each epoch of 32 batches, so that 32 workers take 16 s. */
Test(whatif, advises_no_workers_that_take_longer_to_start_than_they_save)
{
	const struct whatif *w = &diagnosis.whatif;
	struct model m = HEALTHY;

	m.load = 1600;
	m.compute = 10;
	m.cores = 64;
	m.cpu_share = 0.3;
	m.epochs = 8;
	m.batches = 32;
	predict_starts(&m, NAN, 2000);
	cr_expect(w->more_workers > 4 && w->more_workers <= 8, "%d", w->more_workers);
	cr_expect_geq(w->gain[WHATIF_MORE_WORKERS], w->gain[WHATIF_WORKERS_X2] * 0.95);
}

/* Workers that wait for a thread of theirs need cores if it decodes, but not if it waits, too. */
Test(whatif, loads_that_wait_for_their_workers_threads_need_cores)
{
	struct load_facts facts = load_facts_unknown();
	struct model m = crowded();

	for (int outside = 0; outside < 3; outside++) {
		m.cpu_share = 0.02, facts.load_ns = 1, facts.runnable_threads = outside ? 0.1 : 1;
		model_run(&m);
		facts.wait_ns[outside < 2 ? LOAD_WAIT_THREAD : LOAD_WAIT_SOCKET] = 0.95;
		series_add_threads(&series, &facts, m.load * MS, 2);
		predict_with(&facts, NULL);
		cr_expect_eq(diagnosis.whatif.gain[WHATIF_WORKERS_X2] < 0.05, !outside);
		cr_expect_eq(diagnosis.whatif.outside_share > 0.5, outside > 0, "%d", outside);
		series_done(&series);
	}
}

Test(whatif, fewer_workers_load_as_fast_where_there_are_too_many)
{
	const struct whatif *w = &diagnosis.whatif;
	struct model m = crowded();

	predict_starts(&m, 0.125, 800);
	cr_expect_eq(w->fewer_workers, 2);
	/* Each epoch of some 7.4 s saves the starts of 14 workers, 50 ms each. */
	cr_expect_gt(w->gain[WHATIF_FEWER_WORKERS], 0.05, "%g", w->gain[WHATIF_FEWER_WORKERS]);
	cr_expect_lt(w->gain[WHATIF_FEWER_WORKERS], 0.40, "%g", w->gain[WHATIF_FEWER_WORKERS]);
	m = HEALTHY;
	m.load = 800;
	m.cpu_share = 0.9;
	m.cores = 4;
	model_diagnose(&m);
	series_done(&series);
	cr_expect_eq(w->fewer_workers, -1);
	cr_expect(isnan(w->gain[WHATIF_FEWER_WORKERS]));
}

/* A worker's share of a core is not known, but its loads are known neither to run nor to wait. */
Test(whatif, fewer_workers_where_most_of_a_load_was_not_seen)
{
	const struct whatif *w = &diagnosis.whatif;
	struct load_times loads = {.load_ns = 1600, .cpu_ns = 1200, .samples = 1};
	const struct cause_input input = {.loads = &loads};
	struct model m = crowded();

	model_run(&m);
	add_starts(&m, 800);
	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, &input, &diagnosis), 0);
	cr_expect_eq(w->fewer_workers, -1, "a quarter of the loads is too little");
	loads.cpu_ns = 200;
	cr_assert_eq(cause_find(&series, &finding, &input, &diagnosis), 0);
	series_done(&series);
	cr_expect_eq(diagnosis.cause, CAUSE_TOO_MANY_WORKERS, "%s", cause_names[diagnosis.cause]);
	cr_expect_eq(w->fewer_workers, 2);
	cr_expect_eq(w->setups[WHATIF_FEWER_WORKERS].workers, 2);
	cr_expect_gt(w->gain[WHATIF_FEWER_WORKERS], 0.05, "%g", w->gain[WHATIF_FEWER_WORKERS]);
	cr_expect_lt(w->gain[WHATIF_FEWER_WORKERS], 0.40, "%g", w->gain[WHATIF_FEWER_WORKERS]);
}

/* Six workers compute 20 ms for each load, and wait 40 ms for one of the two cores. */
Test(whatif, fewer_workers_are_no_faster_where_loads_only_compute)
{
	struct whatif *w = &diagnosis.whatif;
	struct model m = crowded();

	m.workers = 6;
	m.epochs = 1;
	m.batches = 600;
	m.load = 60;
	m.compute = 4;
	m.cpu_share = 1.0 / 3;
	model_run(&m);
	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, &(struct cause_input){0}, &diagnosis), 0);
	cr_expect(isnan(w->gain[WHATIF_FEWER_WORKERS]));
	cr_assert_eq(whatif_uncrowd(&series, &finding, 2.0 / 3, w), 0);
	series_done(&series);
	cr_expect_eq(w->fewer_workers, 2);
	cr_expect_lt(fabs(w->gain[WHATIF_FEWER_WORKERS]), 0.1, "%g", w->gain[WHATIF_FEWER_WORKERS]);
}

Test(whatif, prices_a_part_of_the_loads)
{
	const struct whatif *w = &diagnosis.whatif;
	struct whatif_gain part;
	struct model m = HEALTHY, other;

	m.load = 700;
	model_diagnose(&m);
	cr_assert_eq(whatif_part(&series, &finding, w, 0.4, &part), 0);
	cr_expect_eq(w->wish_count, 0);
	other = m;
	other.load *= 0.6;
	series_done(&series);
	cr_expect_float_eq((1 + part.gain) * w->batches_per_s[WHATIF_BASELINE],
			   model_truth(&other), 0.2);
	cr_expect(part.low < part.gain && part.gain < part.high);
	/* If nothing is predicted for the run, nothing is predicted for a part of its loads. */
	diagnosis.whatif.gap = WHATIF_GAP_OFF;
	cr_assert_eq(whatif_part(&series, &finding, w, 0.4, &part), 0);
	cr_expect(isnan(part.gain) && isnan(part.low) && isnan(part.high));
}
