/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_study.c - how often a gate is wrong, and what it catches, on simulated runs whose truth is
 * known (tests/unit/gate_model.h).
 *
 * gate-study limit N: N runs of each cell against limits that lie above and below their true ratio.
 * gate-study baselines N: N gates of each cell, of a run and five baselines out of pools of runs
 * between which nothing changed, or the loads did so that the ratio rose by 3, 5 and 10 points.
 * Exit status 1 if more than 1 % fail where nothing changed, or where the true ratio is 2 points
 * below the limit and runs do not drift: the ratio of one that does is another.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/gate_model.h"
#include "analysis/statistics/stats.h"

#define BASELINES  5
#define POOL       120 /* runs of a cell */
#define TRUTH_RUNS 400 /* that say what the ratio is */
#define MOST_WRONG 0.01
#define SEED       UINT64_C(0x13198a2e03707344)

static const struct gate_family FAMILIES[] = {
	{"even", .spread = .1},
	{"spread .5", .spread = .5},
	{"spread 1", .spread = 1},
	{"memory .9", .spread = .2, .memory = .9},
	{"memory .99", .spread = .2, .memory = .99},
	{"Pareto 1.5", .tail = 1.5},
	{"bursts", .spread = .2, .burst = true},
	{"receiving 15 ms", .spread = .1, .receive = 15},
	{"3 epochs, 2 s each", .spread = .1, .epochs = 3, .restart = 1500},
	{"10 epochs, 1 s each", .spread = .1, .epochs = 10, .restart = 750},
	{"50 epochs, .3 s each", .spread = .3, .epochs = 50, .restart = 225},
	{"even, drift 2 %", .spread = .1, .drift = .02},
	{"spread .5, drift 2 %", .spread = .5, .drift = .02},
	{"10 epochs, drift 5 %", .spread = .1, .epochs = 10, .restart = 750, .drift = .05},
};
#define FAMILY_COUNT (sizeof(FAMILIES) / sizeof(FAMILIES[0]))

static const size_t COUNTS[] = {300, 1000, 3000};
#define COUNT_COUNT (sizeof(COUNTS) / sizeof(COUNTS[0]))

static const double RHOS[] = {.9, 1.05, 1.3};
#define RHO_COUNT (sizeof(RHOS) / sizeof(RHOS[0]))

static double ratio_of(const struct gate_sample *sample)
{
	return sample->value[GATE_STALL_RATIO];
}

static double mean_ratio(const struct gate_family *family, double rho, size_t count, int runs)
{
	double sum = 0;

	for (int i = 0; i < runs; i++) {
		struct gate_sample sample = gate_model_run(family, rho, count, false);

		sum += ratio_of(&sample);
	}
	return sum / runs;
}

/* The rho at which the ratio is `ratio`, to a tenth of a point or so. */
static double find_rho(const struct gate_family *family, double low, double ratio, size_t count)
{
	double high = 4 * low;

	for (int i = 0; i < 12; i++) {
		double middle = (low + high) / 2;

		gate_model_seed(SEED + 1);
		if (mean_ratio(family, middle, count, 60) < ratio)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* Points by which the limit lies above the true ratio. */
static const double MARGINS[] = {.02, 0, -.02, -.05, -.10};
#define MARGIN_COUNT (sizeof(MARGINS) / sizeof(MARGINS[0]))

static size_t study_limit(size_t runs, size_t *ret_all)
{
	size_t wrong = 0;

	*ret_all = 0;
	printf("%-22s %7s %6s  failed of %zu, true ratio - limit:\n%38s", "family", "batches",
	       "ratio", RHO_COUNT * runs, "");
	for (size_t m = 0; m < MARGIN_COUNT; m++)
		printf(" %+5.0f pp", -100 * MARGINS[m]);
	printf("\n");
	for (size_t f = 0; f < FAMILY_COUNT; f++) {
		for (size_t c = 0; c < COUNT_COUNT; c++) {
			size_t failed[MARGIN_COUNT] = {0};
			double sum = 0;

			for (size_t k = 0; k < RHO_COUNT; k++) {
				double truth;

				gate_model_seed(SEED + 2 + k);
				truth = mean_ratio(&FAMILIES[f], RHOS[k], COUNTS[c], TRUTH_RUNS);
				sum += truth;
				for (size_t i = 0; i < runs; i++) {
					struct gate_sample sample = gate_model_run(
						&FAMILIES[f], RHOS[k], COUNTS[c], true);

					for (size_t m = 0; m < MARGIN_COUNT; m++)
						failed[m] += sample.low99 > truth + MARGINS[m];
				}
			}
			printf("%-22s %7zu %5.1f%% ", FAMILIES[f].name, COUNTS[c],
			       100 * sum / RHO_COUNT);
			for (size_t m = 0; m < MARGIN_COUNT; m++)
				printf(" %8zu", failed[m]);
			printf("\n");
			fflush(stdout);
			if (FAMILIES[f].drift > 0)
				continue;
			wrong += failed[0];
			*ret_all += RHO_COUNT * runs;
		}
	}
	return wrong;
}

struct pool {
	double ratio[POOL], error[POOL];
};

static void fill(struct pool *pool, const struct gate_family *family, double rho, size_t count)
{
	for (int i = 0; i < POOL; i++) {
		struct gate_sample sample = gate_model_run(family, rho, count, true);

		pool->ratio[i] = ratio_of(&sample);
		pool->error[i] = sample.error;
	}
}

static size_t below(uint64_t *state, size_t count)
{
	return (size_t)(stats_random(state) % count);
}

/* Gates of one run of `now` and five others of `before`. */
static size_t draw(const struct pool *before, const struct pool *now, size_t gates)
{
	const struct gate_limit limit = {.metric = GATE_STALL_INCREASE,
					 .value = GATE_LEAST_INCREASE};
	uint64_t state = SEED;
	size_t failed = 0;

	for (size_t i = 0; i < gates; i++) {
		size_t chosen[BASELINES + 1], run = below(&state, POOL);
		double ratios[BASELINES];
		struct gate_result result;

		chosen[0] = before == now ? run : POOL;
		for (size_t k = 1; k <= BASELINES; k++) {
			bool is_taken;

			do {
				chosen[k] = below(&state, POOL);
				is_taken = false;
				for (size_t j = 0; j < k; j++)
					is_taken |= chosen[j] == chosen[k];
			} while (is_taken);
			ratios[k - 1] = before->ratio[chosen[k]];
		}
		gate_judge_increase(&limit,
				    &(struct gate_groups){ratios, BASELINES, &now->ratio[run],
							  &now->error[run], 1},
				    &result);
		failed += result.outcome == GATE_FAILED;
	}
	return failed;
}

static const double RISES[] = {0, .03, .05, .10};
#define RISE_COUNT (sizeof(RISES) / sizeof(RISES[0]))

static size_t study_baselines(size_t gates, size_t *ret_all)
{
	size_t alarms = 0;

	*ret_all = 0;
	printf("%-22s %7s %6s %6s  failed of %zu, ratio rose by:\n%45s", "family", "batches", "SD",
	       "error", RHO_COUNT * gates, "");
	for (size_t m = 0; m < RISE_COUNT; m++)
		printf(" %5.0f pp", 100 * RISES[m]);
	printf("\n");
	for (size_t f = 0; f < FAMILY_COUNT; f++) {
		for (size_t c = 0; c < COUNT_COUNT; c++) {
			size_t failed[RISE_COUNT] = {0};
			double deviation = 0, error = 0;

			for (size_t k = 0; k < RHO_COUNT; k++) {
				struct stats_moments moments = {0}, errors = {0};
				static struct pool before, now;

				gate_model_seed(SEED + 100 + k);
				fill(&before, &FAMILIES[f], RHOS[k], COUNTS[c]);
				for (int i = 0; i < POOL; i++) {
					stats_add(&moments, before.ratio[i]);
					stats_add(&errors, before.error[i]);
				}
				deviation += stats_deviation(&moments) / RHO_COUNT;
				error += errors.mean / RHO_COUNT;
				failed[0] += draw(&before, &before, gates);
				for (size_t m = 1; m < RISE_COUNT; m++) {
					double rho = find_rho(&FAMILIES[f], RHOS[k],
							      moments.mean + RISES[m], COUNTS[c]);

					gate_model_seed(SEED + 1000 * m + k);
					fill(&now, &FAMILIES[f], rho, COUNTS[c]);
					failed[m] += draw(&before, &now, gates);
				}
			}
			printf("%-22s %7zu %5.2f%% %5.2f%% ", FAMILIES[f].name, COUNTS[c],
			       100 * deviation, 100 * error);
			for (size_t m = 0; m < RISE_COUNT; m++)
				printf(" %8zu", failed[m]);
			printf("\n");
			fflush(stdout);
			alarms += failed[0];
			*ret_all += RHO_COUNT * gates;
		}
	}
	return alarms;
}

int main(int argc, char **argv)
{
	size_t count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0, all, wrong;

	if (count && strcmp(argv[1], "limit") == 0) {
		wrong = study_limit(count, &all);
		printf("2 points below the limit %zu of %zu failed\n", wrong, all);
	} else if (count && strcmp(argv[1], "baselines") == 0) {
		wrong = study_baselines(count, &all);
		printf("where nothing changed %zu of %zu failed\n", wrong, all);
	} else {
		fputs("usage: gate-study limit|baselines N\n", stderr);
		return 2;
	}
	return (double)wrong > MOST_WRONG * (double)all;
}
