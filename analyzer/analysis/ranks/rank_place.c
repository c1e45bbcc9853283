/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/rank_place.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"

static bool is_meant(const struct rank_job *job, const struct rank_finding *finding, size_t i)
{
	return job->members[i].place.batch >= 0 &&
	       (!finding->group_count || (size_t)job->members[i].group == finding->group);
}

static bool is_same(const struct rank_place *one, const struct rank_place *other)
{
	return one->epoch == other->epoch && one->batch == other->batch;
}

static void find_shifted(const struct rank_job *job, struct rank_finding *ret)
{
	const struct rank_place *usual = NULL;
	size_t lead = 0, i;

	for (i = 0; i < job->rank_count; i++) {
		const struct rank_place *place = &job->members[i].place;

		if (!is_meant(job, ret, i))
			continue;
		if (!lead)
			usual = place;
		lead = is_same(place, usual) ? lead + 1 : lead - 1;
	}
	for (i = 0; i < job->rank_count; i++)
		if (is_meant(job, ret, i) && !is_same(&job->members[i].place, usual) &&
		    !ret->shifted_count++)
			ret->shifted = (int32_t)i;
}

static double median(double *values, size_t count)
{
	stats_sort(values, count);
	return values[(count - 1) / 2];
}

static int find_apart(const struct rank_job *job, struct rank_finding *ret)
{
	double *begins = malloc(2 * job->rank_count * sizeof(*begins)), *ends;
	double begin_ns, end_ns;
	size_t count = 0, i;

	if (!begins)
		return -ENOMEM;
	ends = begins + job->rank_count;
	for (i = 0; i < job->rank_count; i++) {
		const struct rank_place *place = &job->members[i].place;

		if (is_meant(job, ret, i) && isfinite(place->begin_ns) && isfinite(place->end_ns)) {
			begins[count] = place->begin_ns;
			ends[count++] = place->end_ns;
		}
	}
	begin_ns = count ? median(begins, count) : NAN;
	end_ns = count ? median(ends, count) : NAN;
	for (i = 0; i < job->rank_count; i++) {
		const struct rank_place *place = &job->members[i].place;
		const double begin = place->begin_ns - begin_ns, end = place->end_ns - end_ns;

		if (is_meant(job, ret, i) && begin * end > 0 &&
		    fmin(fabs(begin), fabs(end)) > fmax((double)job->bin_ns, ret->apart_ns))
			ret->apart_ns = fmin(fabs(begin), fabs(end));
	}
	free(begins);
	return 0;
}

int rank_place_judge(const struct rank_job *job, struct rank_finding *ret)
{
	find_shifted(job, ret);
	if (ret->alignment != RANK_BY_CLOCK)
		return 0;
	ret->shifted_count = 0; /* the reason why ranks are aligned by time needs no report */
	return find_apart(job, ret);
}
