/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/predict/needed.h"

#include <math.h>

#include "analysis/predict/crowd.h"

/* workers are enough if the training reaches at least this share of the best rate */
#define ENOUGH       0.95
#define MOST_WORKERS 512
#define MOST_TIMES   8 /* at most this many times the run's workers are advised: more is untested */
#define MOST_FROM_0  16
#define CANDIDATES   4
#define NEARLY       0.1  /* error of a measured number of workers, subtracted before rounding up */
/* workers are too many if there are over this many times those that keep all cores busy */
#define TOO_MANY     1.25

static bool suffices(const struct trace *trace, struct replay_setup setup, int32_t workers,
		     double ceiling_per_s)
{
	setup.workers = workers;
	/* If the run is short, workers load once or twice, which does not show the cores' limit. */
	return crowd_most(trace, &setup) >= ENOUGH * ceiling_per_s &&
	       crowd_replay(trace, &setup, 1).batches_per_s >= ENOUGH * ceiling_per_s;
}

static int32_t find_first(const struct trace *trace, struct replay_setup setup,
			  double ceiling_per_s)
{
	int32_t low = 0, high = 1, middle;

	while (high <= MOST_WORKERS && !suffices(trace, setup, high, ceiling_per_s)) {
		low = high;
		high *= 2;
	}
	if (high > MOST_WORKERS)
		return -1;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (suffices(trace, setup, middle, ceiling_per_s))
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* Returns how many workers are enough to keep all cores busy; INFINITY: unknown. */
static double find_busy(const struct trace *trace, double cores)
{
	double works = trace->load_cpu / trace->load_got;

	return works > 0 && cores > 0 ? ceil(cores / works - NEARLY) : INFINITY;
}

/* Tries `most`, most / 2, ... Returns the fewest workers that reach ENOUGH times the best rate. */
static int32_t find_fewest(const struct trace *trace, struct replay_setup setup, int32_t most)
{
	double rates[CANDIDATES], best = 0;
	int32_t numbers[CANDIDATES];
	int count = 0, i;

	/* More workers may be slower where epochs are short, as it takes time to start them. */
	for (setup.workers = most; count < CANDIDATES && setup.workers > 0; setup.workers /= 2) {
		numbers[count] = setup.workers;
		rates[count] = crowd_replay(trace, &setup, 1).batches_per_s;
		best = fmax(best, rates[count++]);
	}
	for (i = count - 1; i > 0 && !(rates[i] >= ENOUGH * best); i--)
		;
	return numbers[i];
}

static int32_t find_more(const struct needed *needed, const struct trace *trace,
			 const struct replay_setup *now, double busy, double cores)
{
	double most = fmin(now->workers ? MOST_TIMES * now->workers : MOST_FROM_0, busy);
	int32_t more;

	if (!now->workers && isinf(busy) && needed->enough < 0)
		most = cores > 0 ? ceil(fmin(cores, most)) : 1;
	if (needed->enough > 0 && needed->enough <= most)
		more = needed->enough;
	else
		more = find_fewest(trace, *now, (int32_t)most);
	return more > now->workers ? more : -1;
}

struct needed needed_find(const struct trace *trace, const struct replay_setup *now, double cores)
{
	struct replay_setup setup = *now;
	struct needed needed = {.fewer = -1};
	double busy = find_busy(trace, cores), ceiling_per_s;

	setup.load_factor = 0;
	if (!setup.workers)
		setup.workers = 1;
	ceiling_per_s = crowd_replay(trace, &setup, 1).batches_per_s;
	setup.load_factor = 1;
	needed.enough = find_first(trace, setup, ceiling_per_s);
	if (needed.enough < 0) {
		setup.workers = MOST_WORKERS;
		needed.core_limited = crowd_most(trace, &setup) < ENOUGH * ceiling_per_s;
	}
	needed.more = find_more(&needed, trace, now, busy, cores);
	if (now->workers > TOO_MANY * busy)
		needed.fewer = (int32_t)busy;
	return needed;
}
