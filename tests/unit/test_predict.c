/* SPDX-License-Identifier: Apache-2.0 */
/* Tests by hand what predictions are made of: parts of a hand-over, starts of epochs, the grid. */
#include <criterion/criterion.h>
#include <math.h>

#include "analysis/predict/grid.h"
#include "analysis/predict/replay.h"
#include "analysis/predict/take.h"
#include "model.h"

#define MS 1e6

/* A run with two workers, of which one batch is described: ns. */
static float load_ns[] = {50}, compute_ns[] = {7}, lag_ns[] = {3}, latency_ns[] = {20},
	     handover_ns[] = {30};
static int16_t worker[] = {1};
static struct trace_epoch starts[2];

static struct trace a_trace(void)
{
	return (struct trace){
		.load_ns = load_ns,
		.compute_ns = compute_ns,
		.lag_ns = lag_ns,
		.latency_ns = latency_ns,
		.handover_ns = handover_ns,
		.worker = worker,
		.count = 1,
		.epochs = starts,
		.epoch_count = 2,
		.workers = 2,
		.usual_lag_ns = 1,
		.kept_factor = 0.5,
	};
}

static const struct replay_setup SAME = {
	.workers = 2,
	.prefetch_factor = 2,
	.in_order = true,
	.slow = REPLAY_SLOW_NONE,
	.load_factor = 1,
	.handover_factor = 1,
	.fetch_factor = 1,
	.sampling_factor = 1,
	.unseen_sampling = 0,
};

Test(predict, a_hand_over_is_sampling_and_fetching_and_the_rest)
{
	struct trace trace = a_trace();
	struct replay_setup setup = SAME;

	trace.sample_ns = 4;
	trace.fetch_ns = 10;
	trace.receive_ns = 12;
	cr_expect_eq(replay_handover_ns(&trace, &setup, 0), 30);
	cr_expect_eq(replay_latency_ns(&trace, &setup, 0), 20);
	cr_expect_eq(replay_receive_ns(&trace, &setup), 12);
	/* Other ways of sharing tensors leave nothing to fetch. */
	setup.fetch_factor = 0;
	cr_expect_eq(replay_handover_ns(&trace, &setup, 0), 20);
	cr_expect_eq(replay_receive_ns(&trace, &setup), 2);
	setup.fetch_factor = 0.5;
	setup.handover_factor = 2;
	setup.sampling_factor = 0.25;
	cr_expect_eq(replay_handover_ns(&trace, &setup, 0), 1 + 2 * (16 + 5));
	cr_expect_eq(replay_receive_ns(&trace, &setup), 2 * (12 - 5));
	/* A worker that is busy with its next load answers the sooner the shorter that load is. */
	setup = SAME;
	setup.load_factor = 0.5;
	cr_expect_eq(replay_receive_ns(&trace, &setup), 12, "it answers at once");
	trace.fetch_waits = true;
	cr_expect_eq(replay_receive_ns(&trace, &setup), 7);
	cr_expect_eq(replay_handover_ns(&trace, &setup, 0), 25);
	/* What of fetching does not fit into the hand-over is part of the latency. */
	trace.fetch_ns = 40;
	cr_expect_eq(replay_latency_ns(&trace, &setup, 0), 20 - 14 / 2.);
	trace.receive_ns = 3;
	cr_expect_eq(replay_receive_ns(&trace, &setup), 1.5, "no more than all is fetching");
}

Test(predict, a_training_that_loads_for_itself_hands_nothing_over)
{
	struct trace trace = a_trace();
	struct replay_setup setup = SAME;

	trace.sample_ns = 4;
	setup.workers = 0;
	cr_expect_eq(replay_latency_ns(&trace, &setup, 0), 0);
	cr_expect_eq(replay_handover_ns(&trace, &setup, 0), 4, "it still chooses samples");
	trace.workers = 0;
	cr_expect_eq(replay_handover_ns(&trace, &setup, 0), 30, "as in the run");
	setup.workers = 2;
	cr_expect_eq(replay_handover_ns(&trace, &setup, 0), 4 + 3e5);
	cr_expect_eq(replay_latency_ns(&trace, &setup, 0), 3e5);
}

/* A run whose workers were started in each epoch, one after the other, 8 ns each. */
static struct trace restarting(void)
{
	struct trace trace = a_trace();

	trace.restarts = true;
	starts[0] = starts[1] = (struct trace_epoch){
		.setup_ns = 16, .start_ns = 9, .boot_ns = 100, .stop_ns = 9, .sample_ns = 0};
	return trace;
}

Test(predict, more_workers_take_longer_to_start_and_to_end)
{
	struct trace trace = restarting();
	struct replay_setup setup = SAME;
	struct trace_epoch e;

	setup.restarts = true;
	e = replay_epoch(&trace, &setup, 1);
	cr_expect(e.setup_ns == 16 && e.start_ns == 9 && e.stop_ns == 9, "as in the run");
	setup.workers = 4;
	e = replay_epoch(&trace, &setup, 1);
	cr_expect_eq(e.setup_ns, 32);
	cr_expect_eq(e.start_ns, 100 - 3 * 8, "the first of four has begun to boot before");
	/* To end the first worker takes 2.5 times longer than to end another one. */
	cr_expect_float_eq(e.stop_ns, 9 * 6.5 / 4.5, 1e-9);
	setup.workers = 1;
	cr_expect_eq(replay_epoch(&trace, &setup, 0).start_ns, 100);
	starts[0].boot_ns = NAN;
	cr_expect_eq(replay_epoch(&trace, &setup, 0).start_ns, 9, "it was not seen");
}

Test(predict, workers_that_stay_are_started_once)
{
	struct trace trace = restarting();
	struct replay_setup setup = SAME;
	struct trace_epoch e;

	starts[0].setup_ns = starts[1].setup_ns = 16e6;
	e = replay_epoch(&trace, &setup, 0);
	cr_expect(e.setup_ns == 16e6 && e.start_ns == 9 && e.stop_ns == 0);
	e = replay_epoch(&trace, &setup, 1);
	cr_expect(e.setup_ns == 1.5e6 && e.start_ns == 1 && e.stop_ns == 0);
	/* A worker's first load in an epoch is shorter then, and begins as others do. */
	cr_expect_eq(replay_until_loaded_ns(&trace, &setup, 0, 1, 1, 1), 1 + 25);
	cr_expect_eq(replay_until_loaded_ns(&trace, &setup, 0, 1, 1, 2), 3 + 50);
	cr_expect_eq(replay_until_loaded_ns(&trace, &setup, 0, 1, 0, 1), 3 + 50);
	/* A training without workers starts them once, or for each epoch. */
	trace = restarting();
	trace.workers = 0;
	setup.workers = 3;
	cr_expect_eq(replay_epoch(&trace, &setup, 0).setup_ns, 16 + 3 * 8e6);
	cr_expect_eq(replay_epoch(&trace, &setup, 1).setup_ns, 16 + 1.5e6);
	setup.restarts = true;
	cr_expect_eq(replay_epoch(&trace, &setup, 1).setup_ns, 16 + 3 * 8e6);
	/* A training that does without its workers neither starts nor ends any. */
	trace = restarting();
	setup.workers = 0;
	e = replay_epoch(&trace, &setup, 1);
	cr_expect(e.setup_ns == 0 && e.start_ns == 0 && e.stop_ns == 0);
}

Test(predict, slow_workers_stay_slow_or_slow_data_does)
{
	static double factors[] = {1, 3};
	struct trace trace = a_trace();
	struct replay_setup setup = SAME;

	trace.factors = factors;
	trace.factor_count = 2;
	setup.load_factor = 2;
	cr_expect_eq(replay_load_ns(&trace, &setup, 0, 1), 100);
	setup.slow = REPLAY_SLOW_WORKER;
	cr_expect_eq(replay_load_ns(&trace, &setup, 0, 0), 100);
	cr_expect_eq(replay_load_ns(&trace, &setup, 0, 1), 300);
	cr_expect_eq(replay_load_ns(&trace, &setup, 0, 2), 100, "a worker that the run lacked");
	setup.slow = REPLAY_SLOW_INDEX;
	cr_expect_eq(replay_load_ns(&trace, &setup, 0, 0), 300, "the data of the slow worker");
	worker[0] = -1;
	cr_expect_eq(replay_load_ns(&trace, &setup, 0, 0), 100, "nobody knows whose data");
	worker[0] = 1;
}

/* Predicts the grid of a run of the model. */
static void predict_grid(const struct model *m, struct whatif *whatif, struct grid *grid)
{
	struct trace trace;

	model_run(m);
	stall_judge(&series, &finding);
	cr_assert_eq(take_trace(&series, &finding, &trace), 0);
	cr_assert_eq(whatif_predict(&series, &finding, &trace, NULL, whatif), 0);
	cr_assert_eq(grid_predict(whatif, &trace, grid), 0);
	trace_done(&trace);
	series_done(&series);
}

Test(predict, a_grid_has_the_run_and_settings_around_it)
{
	struct model m = HEALTHY;
	struct whatif whatif;
	struct grid grid;
	size_t at = 0;

	m.load = 800;
	predict_grid(&m, &whatif, &grid);
	cr_assert_eq(grid.workers.values[grid.workers.was], 4);
	cr_assert_eq(grid.prefetch.values[grid.prefetch.was], 2);
	cr_assert_eq(grid.load.values[grid.load.was], 1);
	cr_expect(grid.in_order[0] && !grid.in_order[1] && grid.order_count == 2);
	cr_expect_geq(grid.workers.count, 9);
	cr_expect_eq(grid.prefetch.count, 4);
	cr_expect_eq(grid.load.count, 6);
	for (size_t i = 1; i < grid.workers.count; i++)
		cr_expect_lt(grid.workers.values[i - 1], grid.workers.values[i]);
	for (size_t i = 1; i < grid.prefetch.count; i++)
		cr_expect_lt(grid.prefetch.values[i - 1], grid.prefetch.values[i]);
	for (size_t i = 1; i < grid.load.count; i++)
		cr_expect_lt(grid.load.values[i - 1], grid.load.values[i]);
	cr_expect(grid.workers.values[0] == 1 && grid.load.values[0] == 0.25 &&
		  grid.prefetch.values[0] == 1);
	/* The points are sorted by workers first: those of the run, and of twice the workers. */
	for (size_t i = 0; i < grid.workers.count; i++)
		for (size_t k = 0; k < grid.prefetch.count; k++)
			for (size_t l = 0; l < grid.load.count; l++)
				for (size_t o = 0; o < 2; o++, at++) {
					const double per_s = grid.points[at].batches_per_s;
					const bool is_run = grid.workers.values[i] == 4 &&
							    grid.prefetch.values[k] == 2 && !o;

					if (is_run && grid.load.values[l] == 1)
						cr_expect_float_eq(
							per_s,
							whatif.batches_per_s[WHATIF_BASELINE],
							1e-9);
					if (is_run && grid.load.values[l] == 0.5)
						cr_expect_float_eq(
							per_s,
							whatif.batches_per_s[WHATIF_LOAD_HALF],
							1e-9);
				}
	grid_done(&grid);
	cr_expect_null(grid.points);
}

Test(predict, a_grid_of_a_training_that_loads_for_itself_has_few_workers)
{
	struct model m = HEALTHY;
	struct whatif whatif;
	struct grid grid;

	m.workers = 0;
	m.load = 300;
	predict_grid(&m, &whatif, &grid);
	cr_assert_gt(grid.workers.count, 3);
	cr_expect(grid.workers.values[0] == 0 && grid.workers.was == 0);
	for (size_t i = 1; i < grid.workers.count; i++)
		cr_expect_lt(grid.workers.values[i - 1], grid.workers.values[i]);
	grid_done(&grid);
	/* What is not predicted at all has no grid. */
	whatif.batches_per_s[WHATIF_BASELINE] = NAN;
	cr_assert_eq(grid_predict(&whatif, &(struct trace){0}, &grid), 0);
	cr_expect_null(grid.points);
}

/*
 * A training whose own thread loads, at one core, alone or with a program that takes half of it.
 * Loads and steps take 100 ms each.
 */
Test(predict, without_workers_loads_and_steps_take_turns)
{
	struct model m = HEALTHY;
	double per_s;

	m.workers = 0;
	m.load = m.compute = 100;
	m.cores = 1;
	for (int others = 0; others < 2; others++) {
		m.other_cores = others;
		m.cpu_share = m.main_cores = others ? 0.5 : 1;
		model_diagnose(&m);
		per_s = diagnosis.whatif.batches_per_s[WHATIF_BASELINE];
		cr_expect_float_eq(per_s, 5, 0.05, "%g", per_s);
		per_s = diagnosis.whatif.batches_per_s[WHATIF_LOAD_HALF];
		cr_expect_float_eq(per_s, 1 / 0.15, 0.1, "%d: %g", others, per_s);
		series_done(&series);
	}
}

static void judge_again(void)
{
	const struct cause_input nothing = {.facts = NULL};

	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, &nothing, &diagnosis), 0);
}

/* Another loader of the same steps lets the training take so many batches a second, and no more. */
Test(predict, another_loader_of_the_same_steps_is_a_limit)
{
	const struct whatif *w = &diagnosis.whatif;
	struct model m = HEALTHY;
	double alone, was;

	m.workers = 2;
	m.load = 100;
	m.compute = 10;
	model_run(&m);
	judge_again();
	alone = w->batches_per_s[WHATIF_WORKERS_X2];
	was = w->batches_per_s[WHATIF_BASELINE];
	cr_assert_gt(alone, 1.5 * was);
	series.others_per_s = 1.25 * was;
	judge_again();
	cr_expect_float_eq(w->batches_per_s[WHATIF_WORKERS_X2], 1.25 * was, 1e-6 * was);
	cr_expect_float_eq(w->batches_per_s[WHATIF_LOAD_HALF], 1.25 * was, 1e-6 * was);
	cr_expect_gt(w->batches_per_s[WHATIF_SYNTHETIC], alone);
	/* It never makes the run slower than it was. */
	series.others_per_s = 0.5 * was;
	judge_again();
	cr_expect_float_eq(w->batches_per_s[WHATIF_WORKERS_X2], was, 1e-6 * was);
	series_done(&series);
}
