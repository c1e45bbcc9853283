/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/rank_group.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ALIKE_STEPS 2     /* ranks that get further ahead of each other may belong apart, ... */
#define ALIKE_SHARE 0.005 /* ... if it is more than so much of their steps */

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
	struct rank_group *grown;
	double nearest = INFINITY, lead;

	*ret_group = 0;
	for (size_t i = 0; i < job->group_count; i++) {
		lead = pace_lead(&job->groups[i].sums.pace, pace);
		if (lead < nearest) {
			nearest = lead;
			*ret_group = (int32_t)i;
		}
	}
	/* What does not fit any more goes with those that are most like it. */
	if (job->group_count && (nearest <= alike || job->group_count == RANK_GROUPS ||
				 (job->group_count + 1) * steps > WINDOW_MOST))
		return 0;
	grown = reallocarray(job->groups, job->group_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	job->groups = grown;
	grown[job->group_count] = (struct rank_group){.sums.pace = *pace};
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

/* Only those remain that are surely apart. */
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
