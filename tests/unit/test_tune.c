/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/predict/tune.h"
#include "analysis/statistics/stats.h"
#include "launch/tune/tune.h"

/* Quantiles from a textbook's table. */
Test(tune, quantiles_of_t)
{
	static const struct {
		size_t freedom;
		double share, t;
	} table[] = {
		{1, 0.975, 12.706}, {2, 0.975, 4.303}, {3, 0.975, 3.182}, {4, 0.975, 2.776},
		{5, 0.975, 2.571},  {2, 0.95, 2.920},  {3, 0.995, 5.841}, {4, 0.9, 1.533},
		{8, 0.99, 2.896},   {30, 0.975, 2.042}, {2, 0.99375, 8.860},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		cr_assert_float_eq(tune_t(table[i].share, table[i].freedom), table[i].t, 0.001,
				   "%zu: %f", i, tune_t(table[i].share, table[i].freedom));
	cr_assert_float_eq(tune_t(0.5, 3), 0, 1e-6);
}

Test(tune, the_interval_is_of_all_settings_together)
{
	static const double gains[] = {0.10, 0.12, 0.14};
	struct tune_interval one = tune_interval(gains, 3, 1, 3);
	struct tune_interval four = tune_interval(gains, 3, 4, 3);
	struct tune_interval twice = tune_interval(gains, 3, 2, 5);
	/* Neighbouring rounds share an unchanged run, which makes the variance of three 11 / 8. */
	const double shared = sqrt(1.375);

	cr_assert_float_eq(one.mean, 0.12, 1e-9);
	cr_assert_float_eq(one.high - one.mean, shared * 4.303 * 0.02 / sqrt(3), 1e-4);
	cr_assert_float_eq(four.high - four.mean, shared * 8.860 * 0.02 / sqrt(3), 1e-4);
	cr_assert_eq(twice.high, four.high);
	cr_assert(isnan(tune_interval(gains, 1, 1, 3).low));
	cr_assert(isnan(tune_interval(gains, 0, 1, 3).mean));
}

Test(tune, nothing_is_proven_by_fewer_than_three_rounds)
{
	static const double same[] = {0.5, 0.5, 0.5, 0.5, 0.5};

	for (size_t count = 0; count < 3; count++) {
		cr_assert_eq(tune_judge(same, count, 1, 5, false), TUNE_OPEN, "%zu", count);
		cr_assert_eq(tune_judge(same, count, 1, 5, true), TUNE_NOT_PROVEN, "%zu", count);
	}
	cr_assert_eq(tune_judge(same, 3, 1, 5, false), TUNE_PROVEN);
	/* After an even number of rounds there is no verdict. */
	cr_assert_eq(tune_judge(same, 4, 1, 5, false), TUNE_OPEN);
	cr_assert_eq(tune_judge(same, 5, 1, 5, false), TUNE_PROVEN);
}

Test(tune, who_gains_nothing_leaves)
{
	static const double worse[] = {-0.30, -0.31}, unsteady[] = {-0.2, 0.3, 0.1};

	cr_assert_eq(tune_judge(worse, 2, 3, 5, false), TUNE_NO_WORTH);
	cr_assert_eq(tune_judge(unsteady, 3, 1, 5, false), TUNE_OPEN);
	cr_assert_eq(tune_judge(unsteady, 3, 1, 3, false), TUNE_NOT_PROVEN);
}

static double normal(uint64_t *state)
{
	double a = (double)(stats_random(state) >> 11) * 0x1p-53;
	double b = (double)(stats_random(state) >> 11) * 0x1p-53;

	return sqrt(-2 * log(1 - a)) * cos(2 * M_PI * b);
}

/* A machine whose runs have random rates; next_run() returns a rate's logarithm. */
struct machine {
	double noise, drift; /* standard deviation of a run; change per run */
	double likeness;     /* correlation of a run with the one before */
	uint64_t state;
	double now, trend;
};

static double next_run(struct machine *m)
{
	m->now = m->likeness * m->now + sqrt(1 - m->likeness * m->likeness) * normal(&m->state);
	m->trend += m->drift;
	return m->noise * m->now + m->trend;
}

/* Simulates a tune of settings with these true gains; returns how many are proven to gain. */
static size_t simulate(const double *truth, size_t settings, size_t rounds, struct machine *m)
{
	double gains[TUNE_TRIED][TUNE_MOST];
	enum tune_verdict verdicts[TUNE_TRIED] = {TUNE_OPEN};
	size_t count = 0, proven = 0, round, i;
	double unchanged[2] = {0, (m->now = normal(&m->state)) * m->noise};

	for (round = 0; round < rounds; round++) {
		double rates[TUNE_TRIED];
		size_t open = 0;

		for (i = 0; i < settings; i++) {
			size_t who = round % 2 ? settings - 1 - i : i;

			if (verdicts[who] == TUNE_OPEN)
				rates[who] = truth[who] + next_run(m);
		}
		unchanged[0] = unchanged[1];
		unchanged[1] = next_run(m);
		count++;
		for (i = 0; i < settings; i++) {
			if (verdicts[i] != TUNE_OPEN)
				continue;
			gains[i][count - 1] = rates[i] - (unchanged[0] + unchanged[1]) / 2;
			verdicts[i] = tune_judge(gains[i], count, settings, rounds, false);
			open += verdicts[i] == TUNE_OPEN;
		}
		if (!open)
			break;
	}
	for (i = 0; i < settings; i++)
		proven += verdicts[i] == TUNE_PROVEN;
	return proven;
}

/*
 * With 10 % of noise and no gain at most 2.5 % of tunes prove one, whether a run resembles the run
 * before or not. 0.4 % more are allowed for chance: four standard deviations in 24000 tunes.
 */
Test(tune, no_gain_is_not_proven)
{
	static const double nothing[TUNE_TRIED] = {0};
	struct machine m = {.noise = 0.1, .state = 11};

	for (int halves = 0; halves < 2; halves++) {
		size_t wrong = 0, tunes = 0, each = halves ? 500 : 1500;

		m.likeness = halves / 2.0;
		for (size_t settings = 1; settings <= TUNE_TRIED; settings++)
			for (size_t rounds = 3; rounds <= TUNE_MOST; rounds += 2)
				for (size_t i = 0; i < each; i++, tunes++)
					wrong += simulate(nothing, settings, rounds, &m) > 0;
		cr_assert_leq((double)wrong, 0.029 * (double)tunes, "likeness %.1f: %zu of %zu",
			      m.likeness, wrong, tunes);
	}
}

/* A machine that gets slower by 1 % with every run, all the time. */
Test(tune, a_drift_is_no_gain)
{
	static const double nothing[TUNE_TRIED] = {0};
	struct machine slower = {.noise = 0.02, .drift = 0.01, .state = 7};
	struct machine faster = {.noise = 0.02, .drift = -0.01, .state = 8};
	size_t wrong = 0;

	for (size_t i = 0; i < 500; i++) {
		wrong += simulate(nothing, 4, 5, &slower) > 0;
		wrong += simulate(nothing, 4, 5, &faster) > 0;
	}
	cr_assert_leq(wrong, 40, "%zu of 1000", wrong);
}

Test(tune, a_gain_is_proven)
{
	static const double real[] = {0.45, 0, -0.2};
	struct machine m = {.noise = 0.03, .state = 3};
	size_t found = 0;

	for (size_t i = 0; i < 200; i++)
		found += simulate(real, 3, 5, &m) == 1;
	cr_assert_geq(found, 190, "%zu of 200", found);
}

static struct whatif prediction(void)
{
	struct whatif whatif = {.own_per_s = 10, .outside_share = 0, .correction = 1};

	for (int id = 0; id < WHATIF_ROOM; id++) {
		whatif.batches_per_s[id] = whatif.low_per_s[id] = whatif.high_per_s[id] = NAN;
		whatif.gain[id] = NAN;
		whatif.setups[id] = (struct replay_setup){.workers = 2, .prefetch_factor = 2};
	}
	whatif.batches_per_s[WHATIF_BASELINE] = 10;
	return whatif;
}

static void add(struct whatif *whatif, int id, uint32_t workers, double per_s, double low)
{
	whatif->batches_per_s[id] = per_s;
	whatif->low_per_s[id] = low;
	whatif->high_per_s[id] = per_s * 1.1;
	whatif->gain[id] = per_s / 10 - 1;
	whatif->setups[id].workers = workers;
}

Test(tune, what_is_tried)
{
	const struct tune_room none = {NAN, NAN, NAN, NAN, false};
	struct tune_candidate list[TUNE_LISTED];
	struct whatif whatif = prediction();

	add(&whatif, WHATIF_WORKERS_X2, 4, 15, 13);
	add(&whatif, WHATIF_MORE_WORKERS, 8, 20, 17);
	add(&whatif, WHATIF_PREFETCH_X4, 2, 10.5, 9.7);
	add(&whatif, WHATIF_LOAD_HALF, 2, 18, 17);
	whatif.setups[WHATIF_PREFETCH_X4].prefetch_factor = 8;
	cr_assert_eq(tune_choose(&whatif, &none, false, list), 3);
	cr_assert(list[0].value == 8 && list[0].choice == TUNE_TRY && list[0].before == 2);
	cr_assert(list[1].value == 4 && list[1].choice == TUNE_TRY);
	cr_assert(list[2].key == DLPROF_SET_PREFETCH && list[2].choice == TUNE_NO_GAIN);
	/* Two predictions for the same number of workers are tried once. */
	add(&whatif, WHATIF_MORE_WORKERS, 4, 15, 13);
	cr_assert_eq(tune_choose(&whatif, &none, false, list), 2);
	whatif.gap = WHATIF_GAP_LOADS;
	cr_assert_eq(tune_choose(&whatif, &none, false, list), 0);
}

/* Beside other programs it is enough that workers may gain 10 %, if the training waits. */
Test(tune, workers_are_tried_beside_other_programs)
{
	const struct tune_room none = {NAN, NAN, NAN, NAN, false};
	struct tune_candidate list[TUNE_LISTED];
	struct whatif whatif = prediction();

	add(&whatif, WHATIF_WORKERS_X2, 4, 10.1, 8);
	whatif.ratio = 0.5;
	tune_choose(&whatif, &none, false, list);
	cr_expect_eq(list[0].choice, TUNE_NO_GAIN);
	whatif.shares_cores = true;
	tune_choose(&whatif, &none, false, list);
	cr_expect_eq(list[0].choice, TUNE_TRY);
	whatif.ratio = 0.05;
	tune_choose(&whatif, &none, false, list);
	cr_expect_eq(list[0].choice, TUNE_NO_GAIN);
	whatif.ratio = 0.5;
	add(&whatif, WHATIF_WORKERS_X2, 4, 9.9, 8);
	tune_choose(&whatif, &none, false, list);
	cr_expect_eq(list[0].choice, TUNE_NO_GAIN);
	add(&whatif, WHATIF_WORKERS_X2, 4, NAN, NAN);
	add(&whatif, WHATIF_PREFETCH_X4, 2, 10.1, 8);
	tune_choose(&whatif, &none, false, list);
	cr_expect_eq(list[0].choice, TUNE_NO_GAIN);
}

/* No prediction exists for fewer threads: they are tried. */
Test(tune, one_thread_is_tried_first_where_there_are_too_many)
{
	const struct tune_room none = {NAN, NAN, NAN, NAN, false};
	struct tune_candidate list[TUNE_LISTED];
	struct whatif whatif = prediction();

	add(&whatif, WHATIF_WORKERS_X2, 4, 15, 13);
	add(&whatif, WHATIF_PREFETCH_X4, 2, 10.5, 9.7);
	cr_assert_eq(tune_choose(&whatif, &none, true, list), 3);
	cr_assert(list[0].key == DLPROF_SET_THREADS && list[0].choice == TUNE_TRY);
	cr_assert(list[0].value == 1 && isnan(list[0].gain));
	cr_assert(list[1].value == 4 && list[1].choice == TUNE_TRY);
	cr_assert(list[2].choice == TUNE_NO_GAIN);
	whatif.gap = WHATIF_GAP_LOADS;
	cr_assert_eq(tune_choose(&whatif, &none, true, list), 1);
}

Test(tune, what_does_not_fit_is_not_tried)
{
	struct tune_candidate list[TUNE_LISTED];
	struct whatif whatif = prediction();
	struct tune_room room = {.worker_bytes = 1e9, .free_bytes = 6e9, .batch_bytes = 1e6,
				 .shm_bytes = 1e9};

	add(&whatif, WHATIF_WORKERS_X2, 4, 15, 13);
	add(&whatif, WHATIF_MORE_WORKERS, 8, 20, 17);
	tune_choose(&whatif, &room, false, list);
	cr_assert(list[0].value == 4 && list[0].choice == TUNE_TRY);
	cr_assert(list[1].value == 8 && list[1].choice == TUNE_NO_MEMORY);
	cr_assert_float_eq(list[1].need_bytes, 6e9, 1);
	room.free_bytes = 1e12;
	room.shm_bytes = 10e6;
	tune_choose(&whatif, &room, false, list);
	cr_assert_eq(list[0].choice, TUNE_TRY);
	cr_assert(list[1].value == 8 && list[1].choice == TUNE_NO_SHM);
}

Test(tune, in_order_is_not_tried_where_pytorch_does_not_have_it)
{
	struct tune_room room = {NAN, NAN, NAN, NAN, false};
	struct tune_candidate list[TUNE_LISTED];
	struct whatif whatif = prediction();

	add(&whatif, WHATIF_WORKERS_X2, 4, 15, 13);
	add(&whatif, WHATIF_IN_ORDER_FALSE, 2, 18, 17);
	tune_choose(&whatif, &room, false, list);
	cr_assert(list[0].key == DLPROF_SET_IN_ORDER && list[0].choice == TUNE_TRY);
	room.lacks_order = true;
	cr_assert_eq(tune_choose(&whatif, &room, false, list), 2);
	cr_assert(list[0].key == DLPROF_SET_WORKERS && list[0].choice == TUNE_TRY);
	cr_assert(list[1].key == DLPROF_SET_IN_ORDER && list[1].choice == TUNE_NO_SETTING);
}

/* Of what the user asks about, only another number of workers can be set. */
Test(tune, a_wish_for_workers_is_tried)
{
	const struct tune_room none = {NAN, NAN, NAN, NAN, false};
	struct tune_candidate list[TUNE_LISTED];
	struct whatif whatif = prediction();

	whatif.wish_count = 2;
	add(&whatif, WHATIF_MAX, 6, 18, 16);
	add(&whatif, WHATIF_MAX + 1, 2, 30, 28);
	cr_assert_eq(tune_choose(&whatif, &none, false, list), 1);
	cr_expect(list[0].key == DLPROF_SET_WORKERS && list[0].value == 6);
	cr_expect(list[0].before == 2 && list[0].choice == TUNE_TRY);
	cr_expect_float_eq(list[0].gain, 0.8, 1e-9);
	/* Ideal input also has other workers, but cannot be set. */
	whatif.wish_count = 0;
	add(&whatif, WHATIF_SYNTHETIC, 0, 50, 45);
	cr_expect_eq(tune_choose(&whatif, &none, false, list), 0);
}

Test(tune, each_setting_is_changed_to_what_it_is_not)
{
	const struct tune_room none = {NAN, NAN, NAN, NAN, false};
	static const struct {
		int id;
		enum dlprof_set key;
		int32_t before, value;
	} settings[] = {
		{WHATIF_PREFETCH_X4, DLPROF_SET_PREFETCH, 2, 8},
		{WHATIF_IN_ORDER_FALSE, DLPROF_SET_IN_ORDER, 1, 0},
		{WHATIF_PERSISTENT, DLPROF_SET_PERSISTENT, 0, 1},
		{WHATIF_SHARING, DLPROF_SET_SHARING, 0, 1},
		{WHATIF_MORE_WORKERS, DLPROF_SET_WORKERS, 2, 5},
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		struct tune_candidate list[TUNE_LISTED];
		struct whatif whatif = prediction();

		add(&whatif, settings[i].id, settings[i].key == DLPROF_SET_WORKERS ? 5 : 2, 15, 13);
		whatif.setups[settings[i].id].prefetch_factor = 8;
		cr_assert_eq(tune_choose(&whatif, &none, false, list), 1, "%zu", i);
		cr_expect_eq(list[0].key, settings[i].key, "%zu", i);
		cr_expect_eq(list[0].before, settings[i].before, "%zu", i);
		cr_expect_eq(list[0].value, settings[i].value, "%zu", i);
		/* What gains less than 3 % is not worth a change. */
		add(&whatif, settings[i].id, settings[i].key == DLPROF_SET_WORKERS ? 5 : 2, 10.29,
		    10.1);
		tune_choose(&whatif, &none, false, list);
		cr_expect_eq(list[0].choice, TUNE_NO_GAIN, "%zu", i);
	}
}

Test(tune, only_so_many_settings_are_tried)
{
	const struct tune_room none = {NAN, NAN, NAN, NAN, false};
	struct tune_candidate list[TUNE_LISTED];
	struct whatif whatif = prediction();

	whatif.wish_count = 6;
	for (int i = 0; i < 6; i++)
		add(&whatif, WHATIF_MAX + i, 4 << i, 20 + i, 15 + i);
	cr_assert_eq(tune_choose(&whatif, &none, false, list), 6);
	for (int i = 0; i < 6; i++) {
		cr_expect_eq(list[i].value, 4 << (5 - i), "those of the largest gain first");
		cr_expect_eq(list[i].choice, i < TUNE_TRIED ? TUNE_TRY : TUNE_NO_TIME, "%d", i);
	}
	/* Numbers of workers that are nearly alike are tried once. */
	whatif.wish_count = 2;
	add(&whatif, WHATIF_MAX + 1, 5, 21, 16);
	whatif.setups[WHATIF_MAX].workers = 200;
	whatif.setups[WHATIF_MAX + 1].workers = 201;
	cr_expect_eq(tune_choose(&whatif, &none, false, list), 1);
}

/* Shows the result; returns what the screen says, with one blank where it has several, or a line's
 * end. */
static const char *shown(const struct tune *tune)
{
	static char said[4096];
	FILE *kept = stdout, *file = tmpfile();
	size_t length = 0;

	cr_assert(file);
	stdout = file;
	cr_assert_eq(tune_show(tune), 0);
	stdout = kept;
	rewind(file);
	for (int c; (c = getc(file)) != EOF && length + 1 < sizeof(said);)
		if ((c != ' ' && c != '\n') || (length && said[length - 1] != ' '))
			said[length++] = c == '\n' ? ' ' : (char)c;
	said[length] = '\0';
	fclose(file);
	return said;
}

#define EXPECT(tune, text)                                                                         \
	do {                                                                                       \
		const char *found = shown(tune);                                                   \
                                                                                                   \
		cr_expect(strstr(found, text), "%s", found);                                       \
	} while (0)

static const struct launch_options three_rounds = {.rounds = 3};

/* Of two settings that are proven the better one is to be written. */
Test(tune, the_screen_says_what_is_proven_and_how_to_write_it)
{
	static struct tune tune = {
		.options = &three_rounds,
		.folder = "/tmp/tune",
		.database = "/tmp/tune/base.db",
		.place = "train.py:9",
		.stop_after = 400,
		.run_count = 13,
		.round_count = 3,
		.seconds = 125,
		.base_per_s = {10, 10, 10, 10},
		.trial_count = 3,
		.candidate_count = 4,
		.world_size = 8,
		.rank = 5,
	};

	tune.candidates[0] =
		(struct tune_candidate){.key = DLPROF_SET_WORKERS, .value = 4, .gain = 1};
	tune.candidates[0].low = 0.5;
	tune.candidates[0].high = 2;
	tune.candidates[1] =
		(struct tune_candidate){.key = DLPROF_SET_CONTEXT, .value = 2, .gain = NAN};
	tune.candidates[2] =
		(struct tune_candidate){.key = DLPROF_SET_PIN, .value = 1, .gain = NAN};
	tune.candidates[3] = (struct tune_candidate){.key = DLPROF_SET_PREFETCH, .value = 8};
	tune.candidates[3].choice = TUNE_NO_SHM;
	tune.candidates[3].need_bytes = 3e9;
	for (int i = 0; i < 3; i++) {
		tune.trials[i].candidate = &tune.candidates[i];
		tune.trials[0].gains[i] = log(1.5);
		tune.trials[1].gains[i] = log(2);
	}
	tune.trials[0].count = tune.trials[1].count = 3;
	tune.trials[0].verdict = tune.trials[1].verdict = TUNE_PROVEN;
	strcpy(tune.trials[1].database, "/tmp/tune/1.db");
	tune.trials[2].verdict = TUNE_DIED;
	strcpy(tune.trials[2].died, "exit status 1");
	EXPECT(&tune, "tune 13 runs of 400 batches in 125 s, 3 rounds /tmp/tune ");
	EXPECT(&tune,
	       " PROVEN context=forkserver is 2.0x as fast (2.0x to 2.0x): 10 -> 20 batches/s ");
	EXPECT(&tune, " workers=4 proven 1.50x (1.50x to 1.50x) 2.0x (1.50x to 3.0x) ");
	EXPECT(&tune, " pin_memory=true died - ");
	EXPECT(&tune, " Died pin_memory=true: exit status 1 ");
	EXPECT(&tune, " Rank 5 of 8 waits most");
	EXPECT(&tune, " Write train.py:9 DataLoader(..., multiprocessing_context='forkserver') ");
	EXPECT(&tune, " /dev/shm would not hold it: prefetch_factor=8 (3.00 GB) ");
	EXPECT(&tune, " compare /tmp/tune/base.db /tmp/tune/1.db ");
	/* A flag is written as Python has it, a number as it is. */
	tune.trials[1].candidate = &tune.candidates[2];
	EXPECT(&tune, " Write train.py:9 DataLoader(..., pin_memory=True) ");
	tune.trials[1].verdict = TUNE_NO_WORTH;
	EXPECT(&tune, " Write train.py:9 DataLoader(..., num_workers=4) ");
	tune.trials[0].verdict = TUNE_NOT_PROVEN;
	EXPECT(&tune, " NOTHING PROVEN no setting was shown to make this training faster ");
}

Test(tune, the_screen_says_why_nothing_is_tried)
{
	static struct tune tune = {
		.options = &three_rounds,
		.first = "/tmp/tune/base.db",
		.stall_ratio = 0.25,
		.candidate_count = 2,
	};
	struct tune_candidate *c = tune.candidates;

	c[0] = (struct tune_candidate){
		.key = DLPROF_SET_PERSISTENT, .value = 1, .gain = 0.01, .high = 0.02};
	c[1] = (struct tune_candidate){
		.key = DLPROF_SET_IN_ORDER, .gain = 0.5, .low = 0.25, .high = 1};
	c[0].choice = c[1].choice = TUNE_NO_GAIN;
	EXPECT(&tune,
	       " NOTHING TO TRY no setting is predicted to gain anything, at 25 % of waiting ");
	c[1].choice = TUNE_NO_SETTING;
	EXPECT(&tune, " NOTHING TO TRY the loader lacks the setting that is predicted to gain ");
	EXPECT(&tune, " No not tried, as no gain is predicted: persistent_workers=true 1.01x "
		      "(1.00x to 1.02x) ");
	EXPECT(&tune, " (PyTorch's has it since 2.6): in_order=false 1.50x (1.25x to 2.0x) ");
	c[0].choice = TUNE_NO_MEMORY;
	c[0].need_bytes = 5e9;
	EXPECT(&tune, " NOTHING TO TRY what is predicted to gain would not fit into memory ");
	EXPECT(&tune, " memory would not hold it: persistent_workers=true (5.00 GB) ");
	tune.gap = "the run has no loads";
	EXPECT(&tune, " NOTHING TO TRY nothing is predicted: the run has no loads ");
}
