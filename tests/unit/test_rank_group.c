/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of ranks that never meet are judged apart, and ranks that meet stay in one group. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/ranks/rank.h"

#define MS    1e6
#define RANKS 8

/* A job whose groups of ranks meet after every `meet` steps. */
struct world {
	int group_of[RANKS];
	int group_count;
	int meet, steps, epochs;
	double late_ms[RANKS]; /* delay of a rank's every third batch */
	double jitter;         /* relative deviation of a step's 100 ms of computing */
	double between_ms;     /* time of rank 0 between two epochs, while the others wait */
	unsigned seed;
};

static double chance(unsigned *seed)
{
	return (double)rand_r(seed) / RAND_MAX;
}

/* A step: what each rank waits for its batch and computes. */
struct course {
	double wait_ms[RANKS], compute_ms[RANKS];
};

static void run(const struct world *world, struct course *course)
{
	unsigned seed = world->seed;
	double since[RANKS] = {0}, longest[RANKS];

	for (int step = 0; step < world->steps; step++) {
		for (int rank = 0; rank < RANKS; rank++) {
			const double wait = chance(&seed) < 1 / 3. ? world->late_ms[rank] : 0;
			const double noise = chance(&seed) + chance(&seed) - 1;

			course[step].wait_ms[rank] = wait > 0 ? wait : .5;
			course[step].compute_ms[rank] = 100 * (1 + world->jitter * noise);
			since[rank] += course[step].wait_ms[rank] + course[step].compute_ms[rank];
			if (step && step % (world->steps / world->epochs) == 0 && rank == 0)
				since[rank] += world->between_ms;
		}
		if ((step + 1) % world->meet)
			continue;
		for (int i = 0; i < world->group_count; i++)
			longest[i] = 0;
		for (int rank = 0; rank < RANKS; rank++)
			longest[world->group_of[rank]] =
				fmax(longest[world->group_of[rank]], since[rank]);
		for (int rank = 0; rank < RANKS; rank++) {
			course[step].compute_ms[rank] +=
				longest[world->group_of[rank]] - since[rank];
			since[rank] = 0;
		}
	}
}

static void add_rank(struct rank_job *job, const struct world *world, const struct course *course,
		     int rank)
{
	const int length = world->steps / world->epochs;
	struct rank_epoch *epochs = calloc((size_t)world->epochs + 1, sizeof(*epochs));
	int64_t now = (int64_t)1e15;
	struct batch_series series;
	struct finding finding;

	series_init(&series);
	series.workers = 2;
	for (int step = 0; step < world->steps; step++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.epoch = step / length;
		row.batch = step % length;
		row.wait_ns = (int64_t)(course[step].wait_ms[rank] * MS);
		row.compute_ns = (int64_t)(course[step].compute_ms[rank] * MS);
		if (!row.batch)
			epochs[row.epoch] = (struct rank_epoch){
				row.epoch,
				now += rank || !step ? 0 : (int64_t)(world->between_ms * MS)};
		now += row.wait_ns + row.compute_ns;
		row.head_ready = course[step].wait_ms[rank] < 1;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	stall_judge(&series, &finding);
	cr_assert_eq(rank_add(job, &series, &finding, epochs, (size_t)world->epochs), 0);
	free(epochs);
	series_done(&series);
}

static struct rank_finding judge(const struct world *world, struct rank_blame *blames)
{
	struct course *course = calloc((size_t)world->steps, sizeof(*course));
	struct rank_job job = {.rank_count = 0};
	struct rank_finding finding;

	run(world, course);
	for (int rank = 0; rank < RANKS; rank++)
		add_rank(&job, world, course, rank);
	cr_assert_eq(rank_judge(&job, blames, &finding), 0);
	rank_done(&job);
	free(course);
	return finding;
}

/* Returns whether each rank is in one group with exactly the ranks that it meets. */
static bool is_right(const struct world *world, const struct rank_blame *blames)
{
	for (int a = 0; a < RANKS; a++)
		for (int b = 0; b < RANKS; b++)
			if ((world->group_of[a] == world->group_of[b]) !=
			    (blames[a].group == blames[b].group))
				return false;
	return true;
}

#define JITTER_COUNT 5
#define MEET_COUNT   7

static const double JITTERS[JITTER_COUNT] = {0, .02, .1, .3, .6};
static const int MEETS[MEET_COUNT] = {1, 2, 3, 4, 7, 16, 64};

Test(rank_group, ranks_that_meet_are_never_torn_apart)
{
	int worlds = 0, torn = 0, met = 0;

	for (int at = 0; at < JITTER_COUNT * MEET_COUNT * 2 * 2 * 3 * 4; at++) {
		const int rest = at / JITTER_COUNT / MEET_COUNT;
		struct world world = {
			.group_count = 1,
			.meet = MEETS[at / JITTER_COUNT % MEET_COUNT],
			.jitter = JITTERS[at % JITTER_COUNT],
			.between_ms = rest % 2 ? 2000 : 0,
			.steps = rest / 2 % 2 ? 1000 : 150,
			.seed = (unsigned)at,
		};
		struct rank_blame blames[RANKS];
		struct rank_finding finding;

		/* The time between two epochs belongs to no step of rank 0, but to a step of each
		 * other rank. */
		world.epochs = rest % 2 ? world.steps / 25 : 1;
		world.late_ms[2] = rest / 4 % 3 ? 80 : 0;
		world.late_ms[5] = rest / 4 % 3 == 2 ? 80 : 0;
		finding = judge(&world, blames);
		worlds++;
		torn += finding.group_count > 0;
		met += finding.alignment == RANK_BY_STEP;
		cr_expect_eq(finding.group_count, 0, "meet %d, jitter %g, %d steps, %d epochs: %zu",
			     world.meet, world.jitter, world.steps, world.epochs,
			     finding.group_count);
	}
	cr_log_info("%d of %d torn apart; aligned by step: %d", torn, worlds, met);
}

static void check_apart(const struct world *shape, double least_found)
{
	int worlds = 0, found = 0, wrong = 0, named = 0;

	for (int at = 0; at < JITTER_COUNT * 4 * 2 * 6; at++) {
		const int rest = at / JITTER_COUNT;
		struct world world = *shape;
		struct rank_blame blames[RANKS];
		struct rank_finding finding;
		double least = INFINITY, most = 0;

		world.jitter = JITTERS[at % JITTER_COUNT];
		world.meet = MEETS[rest % 4];
		world.steps = rest / 4 % 2 ? 1000 : 300;
		world.epochs = 1 + rest / 8 % 3;
		world.seed = (unsigned)at + 1000;
		finding = judge(&world, blames);
		worlds++;
		if (finding.group_count && !is_right(&world, blames))
			wrong++;
		if (!finding.group_count || !is_right(&world, blames))
			continue;
		found++;
		named += blames[7].is_culprit && finding.culprit == 7;
		for (size_t i = 0; i < finding.group_count; i++) {
			least = fmin(least, finding.groups[i].stall_ratio);
			most = fmax(most, finding.groups[i].stall_ratio);
		}
		cr_expect_float_eq(finding.stall_ratio, most, 1e-9);
		cr_expect_eq(blames[7].group, finding.group);
		/* Steps of varying length hide a part of the waits. */
		cr_expect(finding.stall_ratio > .12 && finding.stall_ratio < .3,
			  "%f, meet %d, jitter %g", finding.stall_ratio, world.meet, world.jitter);
		cr_expect(least < .05, "%f", least);
	}
	cr_log_info("%d groups: %d of %d found, %d in wrong groups, culprit named in %d",
		    shape->group_count, found, worlds, wrong, named);
	cr_expect(found >= least_found * worlds, "%d of %d", found, worlds);
	cr_expect_eq(wrong, 0);
}

Test(rank_group, the_group_that_loses_time_is_told_from_those_it_never_meets)
{
	check_apart(&(struct world){.group_of = {0, 0, 0, 0, 1, 1, 1, 1},
				    .group_count = 2,
				    .late_ms = {[7] = 80}},
		    .95);
	check_apart(&(struct world){.group_of = {0, 1, 0, 1, 0, 1, 0, 1},
				    .group_count = 2,
				    .late_ms = {[7] = 80}},
		    .95);
	check_apart(&(struct world){.group_of = {0, 0, 0, 0, 0, 0, 1, 1},
				    .group_count = 2,
				    .late_ms = {[7] = 80}},
		    .95);
}

Test(rank_group, two_that_are_equally_bad_are_named_together)
{
	int worlds = 0, named = 0, wrong = 0, alike = 0;

	for (int at = 0; at < JITTER_COUNT * 4 * 10; at++) {
		struct world world = {
			.group_count = 1,
			.meet = MEETS[at / JITTER_COUNT % 4],
			.jitter = JITTERS[at % JITTER_COUNT] / 2,
			.epochs = 1,
			.steps = 400,
			.late_ms = {[2] = 80, [3] = 80},
			.seed = (unsigned)at,
		};
		struct rank_blame blames[RANKS];
		struct rank_finding finding = judge(&world, blames);

		worlds++;
		for (int i = 0; i < RANKS; i++)
			wrong += blames[i].is_culprit && i != 2 && i != 3;
		named += finding.culprit_count == 2;
		/* All ranks are late. */
		for (int i = 0; i < RANKS; i++)
			world.late_ms[i] = 80;
		finding = judge(&world, blames);
		alike += finding.culprit_count > 0;
	}
	cr_log_info("%d of %d named together, %d others named; of equal ones %d", named, worlds,
		    wrong, alike);
	cr_expect(named >= .95 * worlds, "%d of %d", named, worlds);
	cr_expect_eq(wrong, 0);
	cr_expect_eq(alike, 0);
}

Test(rank_group, two_are_not_named_where_a_third_one_is_nearly_as_bad)
{
	int worlds = 0, named = 0;

	for (int at = 0; at < JITTER_COUNT * 4 * 10; at++) {
		struct world world = {
			.group_count = 1,
			.meet = MEETS[at / JITTER_COUNT % 4],
			.jitter = JITTERS[at % JITTER_COUNT] / 2,
			.epochs = 1,
			.steps = 400,
			.late_ms = {[2] = 80, [3] = 80, [6] = 35},
			.seed = (unsigned)at,
		};
		struct rank_blame blames[RANKS];

		worlds++;
		named += judge(&world, blames).culprit_count > 0;
	}
	cr_expect(named <= .03 * worlds, "%d of %d", named, worlds);
}
