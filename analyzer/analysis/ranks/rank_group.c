/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/rank_group.h"

#include <errno.h>
#include <math.h>

#define FEWEST_CELLS 8
/* groups with fewer steps are not separate, as they may wait for each other later */
#define APART_STEPS  128
/* groups are separate only if their mean steps differ by this share, and by APART_ERRORS */
#define APART_SHARE  0.03
#define APART_ERRORS 3    /* standard errors */
/* groups are alike unless one gets ahead by more than ALIKE_STEPS and by more than ALIKE_SHARE */
#define ALIKE_STEPS 2     /* steps */
#define ALIKE_SHARE 0.005 /* share of the steps made */

static void pace_add(struct pace *pace, double step_ns)
{
	pace->rest_ns += (float)step_ns;
	if (++pace->rest < UINT32_C(1) << pace->shift)
		return;
	pace->cells[pace->count++] = pace->rest_ns;
	pace->rest_ns = 0;
	pace->rest = 0;
	if (pace->count < PACE_CELLS)
		return;
	pace->count /= 2;
	pace->shift++;
	for (uint32_t i = 0; i < pace->count; i++)
		pace->cells[i] = pace->cells[2 * i] + pace->cells[2 * i + 1];
}

/* Returns the time that cell `i` would have if cells had 1 << shift steps. */
static double cell_of(const struct pace *pace, uint32_t shift, uint32_t i)
{
	const uint32_t each = UINT32_C(1) << (shift - pace->shift);
	double ns = 0;

	for (uint32_t k = i * each; k < (i + 1) * each; k++)
		ns += (double)pace->cells[k];
	return ns;
}

/*
 * Returns how many steps one rank gets ahead of the other; 0: too few steps. INFINITY: they surely
 * never wait for each other.
 */
static double pace_lead(const struct pace *one, const struct pace *other)
{
	const uint32_t shift = one->shift > other->shift ? one->shift : other->shift;
	const uint32_t mine = one->count >> (shift - one->shift);
	const uint32_t its = other->count >> (shift - other->shift);
	const uint32_t count = mine < its ? mine : its;
	const double n = count, steps = ldexp(n, (int)shift);
	double sum = 0, squares = 0, all = 0, least = 0, most = 0, mean, error;

	if (count < FEWEST_CELLS)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		const double a = cell_of(one, shift, i), b = cell_of(other, shift, i);

		sum += a - b;
		squares += (a - b) * (a - b);
		all += (a + b) / 2;
		least = fmin(least, sum);
		most = fmax(most, sum);
	}
	if (!(all > 0))
		return 0;
	mean = sum / n;
	error = sqrt(fmax(squares / n - mean * mean, 0) / n);
	if (steps >= APART_STEPS && fabs(sum) >= APART_SHARE * all &&
	    fabs(mean) >= APART_ERRORS * error)
		return INFINITY;
	return (most - least) / all * steps;
}

struct pace rank_group_pace(const struct batch_series *s, const struct rank_epoch *epochs,
			    size_t epoch_count)
{
	struct pace pace = {.count = 0};
	struct series_place at = SERIES_BEGIN;
	double end_ns = NAN;

	while (series_next(s, &at)) {
		double ns = series_time(s->wait_ns, at.i) + series_time(s->compute_ns, at.i);
		double gap_ns = 0;

		if (at.is_new) {
			const double begin_ns = rank_epoch_begin(epochs, epoch_count, at.epoch);

			gap_ns = begin_ns - end_ns;
			end_ns = begin_ns;
		}
		if (ns > 0 && gap_ns >= 0)
			pace_add(&pace, ns + gap_ns);
		end_ns += ns;
	}
	return pace;
}

int rank_group_find(struct rank_job *job, const struct pace *pace, int32_t *ret_group)
{
	const size_t steps = pace_steps(pace);
	const double alike = fmax(ALIKE_STEPS, ALIKE_SHARE * (double)steps);
	double nearest = INFINITY, lead;

	*ret_group = 0;
	for (size_t i = 0; i < job->group_count; i++) {
		lead = pace_lead(&job->groups[i].sums.pace, pace);
		if (lead < nearest) {
			nearest = lead;
			*ret_group = (int32_t)i;
		}
	}
	/* If there is no room for one more group, the rank joins the group that is most alike. */
	if (job->group_count && (nearest <= alike || job->group_count == RANK_GROUPS ||
				 (job->group_count + 1) * steps > WINDOW_MOST))
		return 0;
	if (!ARRAY_GROW(job->groups, job->group_count))
		return -ENOMEM;
	job->groups[job->group_count] = (struct rank_group){.sums.pace = *pace};
	*ret_group = (int32_t)job->group_count++;
	return 0;
}

void rank_group_count(struct rank_sums *sums, const struct rank_sums *more)
{
	sums->rank_count += more->rank_count;
	sums->batch_count += more->batch_count;
	sums->known_count += more->known_count;
	sums->wait_ns += more->wait_ns;
	sums->time_ns += more->time_ns;
}

int rank_group_add(struct rank_group *group, const struct rank_group *other)
{
	rank_group_count(&group->sums, &other->sums);
	return window_unite(&group->by_step, &other->by_step);
}

int rank_group_unite_alike(struct rank_job *job)
{
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < job->group_count; i++) {
		double nearest = INFINITY, lead;
		size_t to = kept;

		for (size_t k = 0; k < kept; k++) {
			lead = pace_lead(&job->groups[k].sums.pace, &job->groups[i].sums.pace);
			if (lead < nearest) {
				nearest = lead;
				to = k;
			}
		}
		for (size_t k = 0; k < job->rank_count; k++)
			if (job->members[k].group == (int32_t)i)
				job->members[k].group = (int32_t)to;
		if (to == kept) {
			job->groups[kept++] = job->groups[i];
			continue;
		}
		r = rank_group_add(&job->groups[to], &job->groups[i]);
		window_done(&job->groups[i].by_step);
	}
	if (r == 0)
		job->group_count = kept;
	return r;
}
