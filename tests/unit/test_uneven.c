/* SPDX-License-Identifier: Apache-2.0 */
/* Tests runs in which workers of an iterable dataset run out of data at different times. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "analysis/cause/uneven.h"
#include "model.h"

#define MS      1e6
#define WORKERS 4
#define AHEAD   2

/* A run. shards: batches of each worker in an epoch; times in ms. */
struct plan {
	int shards[WORKERS];
	double load, step;
	int epochs, stop_after; /* batches after which an epoch is left; 0: never */
	bool is_rotated;        /* the shards go to other workers in each epoch */
	bool is_late;           /* a batch counts as ready, and its worker answers late */
};

/* Returns the worker of an epoch's next batch, in turn among those with data; -1: none is left. */
static int deal(int *left, int *turn)
{
	for (int i = 0; i < WORKERS; i++) {
		int worker = (*turn + i) % WORKERS;

		if (!left[worker])
			continue;
		left[worker]--;
		*turn = worker + 1;
		return worker;
	}
	return -1;
}

static void run_epoch(const struct plan *p, int epoch)
{
	double idle[WORKERS] = {0}, out[WORKERS][AHEAD] = {{0}}, now = 0;
	int left[WORKERS], turn = 0, worker;

	for (int i = 0; i < WORKERS; i++)
		left[i] = p->shards[(i + (p->is_rotated ? epoch : 0)) % WORKERS];
	for (int i = 0; (!p->stop_after || i < p->stop_after) && (worker = deal(left, &turn)) >= 0;
	     i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;
		const double request = now, load = p->load * (1 + 0.1 * model_random_share());

		idle[worker] = fmax(idle[worker], out[worker][0]) + load;
		now = fmax(now, idle[worker]) + 0.2;
		out[worker][0] = out[worker][1];
		out[worker][1] = now;
		row.epoch = epoch;
		row.batch = i;
		row.worker = worker;
		row.head_ready = p->is_late || idle[worker] <= request;
		row.qdepth = 0;
		row.load_ns = (int64_t)(load * MS);
		row.wait_ns = (int64_t)((now - request) * MS);
		row.handover_ns = p->is_late ? row.wait_ns : (int64_t)(0.2 * MS);
		row.compute_ns = (int64_t)(p->step * MS);
		now += p->step;
		cr_assert_eq(series_append(&series, &row), 0);
	}
}

static void run(const struct plan *p)
{
	series_init(&series);
	series.workers = WORKERS;
	series.prefetch_factor = AHEAD;
	series.in_order = series.iterable = 1;
	for (int epoch = 0; epoch < p->epochs; epoch++)
		run_epoch(p, epoch);
	series.loading = series_find_loading(&series);
}

static enum cause judge(void)
{
	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, NULL, &diagnosis), 0);
	return diagnosis.cause;
}

static enum cause diagnose(const struct plan *p)
{
	enum cause cause;

	run(p);
	cause = judge();
	series_done(&series);
	return cause;
}

static double rate(const struct plan *p)
{
	double per_s;

	run(p);
	stall_judge(&series, &finding);
	per_s = (double)series.count / finding.account.time_ns * 1e9;
	series_done(&series);
	return per_s;
}

static const struct plan ONE_LARGE = {{140, 20, 20, 20}, 33, 15, 2, 0, false, false};
static const struct plan EVEN = {{50, 50, 50, 50}, 33, 15, 2, 0, false, false};

Test(uneven, one_worker_has_most_of_the_data)
{
	const struct uneven *u = &diagnosis.uneven;
	const struct whatif *w = &diagnosis.whatif;

	cr_expect_eq(diagnose(&ONE_LARGE), CAUSE_UNEVEN_SHARDS, "%s", cause_names[diagnosis.cause]);
	cr_expect_eq(u->loading, 1);
	cr_expect_eq(u->named, 1);
	cr_expect_eq(u->list[0], 0);
	cr_expect_float_eq(u->share, 0.7, 1e-9);
	cr_expect_float_eq(u->begin, 80, 2);
	cr_expect_eq(u->batches, 200);
	cr_expect_gt(u->wait_share, 0.95);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_EVEN_SHARDS);
	cr_expect_eq(diagnosis.advice.steps[0].whatif, WHATIF_EVEN_SHARDS);
	/* Other numbers of workers are not predicted; a longer queue is, and gains little. */
	cr_expect(isnan(w->gain[WHATIF_WORKERS_X2]) && isnan(w->gain[WHATIF_MORE_WORKERS]));
	cr_expect(isnan(w->gain[WHATIF_IN_ORDER_FALSE]));
	cr_expect_lt(w->gain[WHATIF_PREFETCH_X4], 0.06, "%g", w->gain[WHATIF_PREFETCH_X4]);
}

/* The predicted gain is that of the same loader with even shards. */
Test(uneven, the_gain_is_that_of_even_shards)
{
	const double truth = rate(&EVEN) / rate(&ONE_LARGE);

	diagnose(&ONE_LARGE);
	cr_expect_eq(diagnosis.whatif.gap, WHATIF_GAP_NONE);
	cr_expect_float_eq((1 + diagnosis.whatif.gain[WHATIF_EVEN_SHARDS]) / truth, 1, 0.03,
			   "%g, not %g", 1 + diagnosis.whatif.gain[WHATIF_EVEN_SHARDS], truth);
}

/* Workers that answer late make the training wait for batches that count as ready. */
Test(uneven, late_answers_of_the_last_worker_count_where_workers_answer_late)
{
	struct plan p = ONE_LARGE;
	struct uneven u;

	p.is_late = true;
	run(&p);
	stall_judge(&series, &finding);
	uneven_find(&series, &finding, false, &u);
	cr_expect_eq(u.loading, 0);
	uneven_find(&series, &finding, true, &u);
	cr_expect_eq(u.loading, 1);
	cr_expect_gt(u.wait_share, 0.9);
	series_done(&series);
}

Test(uneven, milder_forms)
{
	const struct uneven *u = &diagnosis.uneven;
	struct plan p = {{80, 80, 20, 20}, 40, 15, 3, 0, false, false};

	cr_expect_eq(diagnose(&p), CAUSE_UNEVEN_SHARDS, "%s", cause_names[diagnosis.cause]);
	cr_expect_eq(u->loading, 2);
	cr_expect(u->named == 2 && u->list[0] == 0 && u->list[1] == 1);
	cr_expect_float_eq(u->share, 0.8, 1e-9);
	/* Workers end one after the other; waits begin when the last one is alone. */
	p = (struct plan){{100, 60, 30, 20}, 26, 15, 3, 0, false, false};
	cr_expect_eq(diagnose(&p), CAUSE_UNEVEN_SHARDS, "%s", cause_names[diagnosis.cause]);
	cr_expect_eq(u->loading, 1);
	/* Another worker has the large shard in each epoch. */
	p = ONE_LARGE;
	p.is_rotated = true;
	cr_expect_eq(diagnose(&p), CAUSE_UNEVEN_SHARDS, "%s", cause_names[diagnosis.cause]);
	cr_expect_eq(u->named, 0);
	cr_expect_float_eq(u->share, 0.7, 1e-9);
	/* The second epoch is left early. */
	p = ONE_LARGE;
	p.epochs = 1;
	run(&p);
	p.stop_after = 60;
	run_epoch(&p, 1);
	cr_expect_eq(judge(), CAUSE_UNEVEN_SHARDS, "%s", cause_names[diagnosis.cause]);
	series_done(&series);
}

static bool is_uneven(const struct plan *p)
{
	diagnose(p);
	return diagnosis.uneven.loading > 0 || diagnosis.cause == CAUSE_UNEVEN_SHARDS;
}

Test(uneven, even_shards_are_not)
{
	struct plan p = EVEN;

	cr_expect_not(is_uneven(&p));
	p.load = 100;
	cr_expect_not(is_uneven(&p));
	cr_expect_eq(diagnosis.cause, CAUSE_LOADER_CAPACITY);
	/* Only the last batches of an epoch differ. */
	p = (struct plan){{52, 50, 50, 49}, 55, 15, 8, 0, false};
	cr_expect_not(is_uneven(&p));
}

/* Waits that last all the time do not come from workers that have ended. */
Test(uneven, waits_must_come_with_the_end)
{
	struct plan p = {{70, 70, 70, 20}, 150, 15, 2, 0, false, false};

	cr_expect_not(is_uneven(&p));
	/* The worker ends so early that there is too little before to compare with. */
	p = (struct plan){{120, 120, 120, 3}, 55, 15, 2, 0, false, false};
	cr_expect_not(is_uneven(&p));
	/* The other workers are fast enough after one has ended. */
	p = (struct plan){{70, 70, 70, 20}, 33, 15, 2, 0, false, false};
	cr_expect_not(is_uneven(&p));
}

Test(uneven, epochs_that_are_left_early)
{
	struct plan p = ONE_LARGE;

	p.epochs = 8;
	p.stop_after = 70;
	cr_expect_not(is_uneven(&p));
	/* Of several epochs only one ends so: that may be chance. */
	run(&p);
	p.stop_after = 0;
	run_epoch(&p, 8);
	judge();
	cr_expect_eq(diagnosis.uneven.loading, 0);
	series_done(&series);
}

Test(uneven, only_where_the_dataset_deals_and_the_order_shows_it)
{
	for (int which = 0; which < 4; which++) {
		run(&ONE_LARGE);
		if (which == 0)
			series.iterable = 0;
		else if (which == 1)
			series.iterable = -1;
		else if (which == 2)
			series.in_order = 0;
		else
			memset(series.worker, 0xff, series.count * sizeof(*series.worker));
		judge();
		cr_expect_eq(diagnosis.uneven.loading, 0, "%d", which);
		series_done(&series);
	}
	run(&ONE_LARGE);
	judge();
	cr_expect_eq(diagnosis.uneven.loading, 1);
	series_done(&series);
}

/* For workers without any data there is another cause. */
Test(uneven, workers_that_load_nothing_are_idle)
{
	const struct plan p = {{150, 50, 0, 0}, 60, 15, 2, 0, false, false};

	cr_expect_not(is_uneven(&p));
	cr_expect_eq(diagnosis.cause, CAUSE_IDLE_WORKERS, "%s", cause_names[diagnosis.cause]);
}

/* Even shards do not lift a limit that all workers share. */
Test(uneven, a_shared_limit_stays)
{
	const struct flight flight = {.limit_per_s = 30};

	run(&ONE_LARGE);
	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, &(struct cause_input){.flight = &flight},
				&diagnosis),
		     0);
	cr_expect_eq(diagnosis.uneven.loading, 0);
	series_done(&series);
}
