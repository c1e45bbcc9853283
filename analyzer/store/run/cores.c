/* SPDX-License-Identifier: Apache-2.0 */
#include "store/run/cores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEAST_UNSEEN 0.02 /* unknown programs are ignored if they use less than this of a core */
#define MOST_CORES   1e6

static double rate(int64_t ns, int64_t of_ns)
{
	return ns >= 0 && of_ns > 0 ? (double)ns / (double)of_ns : NAN;
}

static double rate_of_core(int64_t ran_ns, int64_t waited_ns)
{
	int64_t of_ns;

	if (ran_ns < 0 || waited_ns < 0 || __builtin_add_overflow(ran_ns, waited_ns, &of_ns))
		return NAN;
	return rate(ran_ns, of_ns);
}

static bool is_sane(double value)
{
	return value >= 0 && value <= MOST_CORES;
}

static void read_neighbours(const char *text, struct share *share)
{
	struct share_neighbour n;
	char kind;

	while (text && share->count < SHARE_NEIGHBOURS - 1) {
		if (sscanf(text, " %c %lf %lf %lf", &kind, &n.weight, &n.ran, &n.wanted) == 4 &&
		    is_sane(n.weight) && n.weight > 0 && is_sane(n.ran) && is_sane(n.wanted)) {
			n.is_group = kind == 'g';
			share->neighbours[share->count++] = n;
		}
		text = strchr(text, ';');
		text += text != NULL;
	}
}

/* Adds a neighbour for cores that no known program uses: short-lived programs, other containers. */
static void add_unseen(double other_cores, double own_share, struct share *share)
{
	double ran = other_cores;

	for (size_t i = 0; i < share->count; i++)
		ran -= share->neighbours[i].ran;
	if (!(ran > LEAST_UNSEEN))
		return;
	share->neighbours[share->count++] = (struct share_neighbour){
		.is_group = true,
		.weight = 1,
		.ran = ran,
		.wanted = own_share > 0 ? ran / own_share : ran,
	};
}

void cores_read(const struct run_info *run, struct batch_series *series)
{
	double all = run->cpus > 0 && run->cpus <= INT32_MAX ? (double)run->cpus : NAN;
	double limit = run->cpu_limit_milli > 0 ? (double)run->cpu_limit_milli / 1e3 : NAN;
	double affinity =
		run->affinity > 0 && run->affinity <= INT32_MAX ? (double)run->affinity : all;

	series->cores = fmin(all, limit);
	series->main_cores = rate(run->main_cpu_ns, run->main_cpu_of_ns);
	series->other_cores = rate(run->other_cpu_ns, run->other_cpu_of_ns);
	series->main_share = rate_of_core(run->main_ran_ns, run->main_waited_ns);
	series->worker_share = rate_of_core(run->workers_ran_ns, run->workers_waited_ns);
	series->share = (struct share){.cores = series->cores, .all = affinity};
	read_neighbours(run->neighbours, &series->share);
	add_unseen(series->other_cores, fmin(series->main_share, series->worker_share),
		   &series->share);
	/* Cores that its CPU limit denies to the run may be used by others without harm. */
	if (limit < affinity && !isnan(series->other_cores))
		series->other_cores = fmax(series->other_cores - (affinity - limit), 0);
}
