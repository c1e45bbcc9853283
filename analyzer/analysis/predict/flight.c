/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/predict/flight.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "dlprof/units.h"

#define ROUNDS       3 /* the end of an epoch is its last loads, this many for each worker */
#define FEWEST_ENDS  3
#define FEWEST_LOADS 20
/* loads share a limit if time off the CPU grows with this power of the number under way, or more */
#define GROWTH_LEAST 0.6
#define Z_LEAST      4.0
#define SPAN_LEAST   1.5  /* a limit shows only if most / fewest loads under way is at least this */
#define OUTSIDE_LEAST 0.5 /* a limit shows only if loads are off the CPU for this share of time */
#define NEARLY_MOST  0.8

struct edge {
	int64_t at_ns;
	size_t load;
	bool is_end;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *left = a, *right = b;

	if (left->at_ns != right->at_ns)
		return left->at_ns < right->at_ns ? -1 : 1;
	return right->is_end - left->is_end;
}

static int count_under_way(const struct flight_load *loads, size_t count, double *ret)
{
	struct edge *edges = malloc((2 * count + 1) * sizeof(*edges));
	double sum_ns = 0, now = 0;

	if (!edges)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int64_t end_ns;

		if (__builtin_add_overflow(loads[i].begin_ns, loads[i].load_ns, &end_ns))
			end_ns = INT64_MAX;
		edges[2 * i] = (struct edge){loads[i].begin_ns, i, false};
		edges[2 * i + 1] = (struct edge){end_ns, i, true};
	}
	qsort(edges, 2 * count, sizeof(*edges), by_time);
	for (size_t i = 0; i < 2 * count; i++) {
		size_t load = edges[i].load;

		if (i)
			sum_ns += now * ((double)edges[i].at_ns - (double)edges[i - 1].at_ns);
		now += edges[i].is_end ? -1 : 1;
		if (edges[i].is_end)
			ret[load] = (sum_ns - ret[load]) / (double)loads[load].load_ns;
		else
			ret[load] = sum_ns;
	}
	free(edges);
	return 0;
}

/* Fits y = ln(a load's time off the CPU) to x = ln(loads under way) over the ends of epochs. */
struct fit {
	size_t load_count, end_count;
	double xx, xy, yy; /* sums of products, centred on the means of each end */
	double few, many;
	double outside_ns, load_ns; /* sums over all loads in the fit */
};

/* Returns a load's time off the CPU, divided by its samples if their number is known. */
static double outside_of(const struct flight_load *load)
{
	double ns = (double)load->load_ns - (double)load->cpu_ns;

	return ns > 0 ? ns / (load->samples > 0 ? load->samples : 1) : 0;
}

/* Adds an epoch's last loads to the fit, but not its last batch if this may be a smaller one. */
static void add_end(const struct flight_load *loads, const double *under_way, size_t begin,
		    size_t end, struct fit *fit)
{
	double x_sum = 0, y_sum = 0, count = 0;
	size_t i;

	if (end > begin && !(loads[end - 1].samples > 0))
		end--;
	for (i = begin; i < end; i++) {
		if (!(outside_of(&loads[i]) > 0) || !(under_way[i] > 0))
			continue;
		x_sum += log(under_way[i]);
		y_sum += log(outside_of(&loads[i]));
		count++;
	}
	for (i = begin; i < end; i++) {
		double x = log(under_way[i]) - x_sum / count, y;

		if (!(outside_of(&loads[i]) > 0) || !(under_way[i] > 0))
			continue;
		y = log(outside_of(&loads[i])) - y_sum / count;
		fit->xx += x * x;
		fit->xy += x * y;
		fit->yy += y * y;
		fit->few = fmin(fit->few, under_way[i]);
		fit->many = fmax(fit->many, under_way[i]);
		fit->outside_ns += (double)loads[i].load_ns - (double)loads[i].cpu_ns;
		fit->load_ns += (double)loads[i].load_ns;
		fit->load_count++;
	}
	fit->end_count += count > 0;
}

static double rate_of_many(const struct flight_load *loads, const double *under_way, size_t count,
			   double many)
{
	double loaded = 0, ns = 0;

	for (size_t i = 0; i < count; i++) {
		if (under_way[i] < NEARLY_MOST * many)
			continue;
		loaded += under_way[i];
		ns += (double)loads[i].load_ns;
	}
	return ns > 0 ? loaded / ns * NS_PER_S : NAN;
}

static bool is_shared(const struct flight *flight, const struct fit *fit)
{
	return fit->load_count >= FEWEST_LOADS && fit->end_count >= FEWEST_ENDS &&
	       fit->many >= SPAN_LEAST * fit->few &&
	       fit->outside_ns >= OUTSIDE_LEAST * fit->load_ns && flight->growth >= GROWTH_LEAST &&
	       flight->z >= Z_LEAST;
}

int flight_find(const struct flight_load *loads, size_t count, int32_t workers, struct flight *ret)
{
	double *under_way = malloc((count + 1) * sizeof(*under_way));
	struct fit fit = {.few = INFINITY};
	size_t begin = 0, most = workers > 0 ? ROUNDS * (size_t)workers : 0, i;
	double left;
	int r = under_way ? count_under_way(loads, count, under_way) : -ENOMEM;

	*ret = (struct flight){.growth = NAN, .z = NAN, .limit_per_s = NAN};
	for (i = 1; r == 0 && i <= count; i++) {
		if (i < count && loads[i].epoch == loads[begin].epoch)
			continue;
		/* If the list is full, the end of the last epoch may be missing. */
		if (i - begin > most && (i < count || count < FLIGHT_MOST))
			add_end(loads, under_way, i - most, i, &fit);
		begin = i;
	}
	if (r == 0 && fit.xx > 0 && fit.load_count > fit.end_count + 1) {
		ret->load_count = fit.load_count;
		ret->few = fit.few;
		ret->many = fit.many;
		ret->growth = fit.xy / fit.xx;
		left = fmax(fit.yy - ret->growth * fit.xy, 0) /
		       (double)(fit.load_count - fit.end_count - 1);
		ret->z = left > 0 ? ret->growth / sqrt(left / fit.xx) : INFINITY;
		if (is_shared(ret, &fit))
			ret->limit_per_s = rate_of_many(loads, under_way, count, fit.many);
	}
	free(under_way);
	return r;
}
