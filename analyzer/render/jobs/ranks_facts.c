/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_facts.c - facts about a job's ranks for all forms of output: groups, blame, doubts. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"
#include "render/form/units.h"
#include "render/jobs/ranks.h"

/* a rank is uneven if a part of its steps is longer than in others by this share of its time */
#define UNEVEN 0.1

bool ranks_is_in_group(const struct rank_blame *blame, int group)
{
	return blame->group == group;
}

bool ranks_is_culprit(const struct rank_blame *blame, int group)
{
	return blame->is_culprit && (blame->group == group || group < 0);
}

int ranks_group(const struct ranks *ranks)
{
	return ranks->job.group_count ? (int)ranks->job.group : -1;
}

double ranks_blame_share(const struct ranks *ranks, size_t i)
{
	const struct rank_finding *job = &ranks->job;
	const int32_t group = ranks->blames[i].group;

	if (ranks->rows[0].is_dispatched || !job->starved)
		return NAN;
	if (group >= 0)
		return job->groups[group].meets
			       ? ranks->blames[i].wait_ns / job->groups[group].wait_ns
			       : NAN;
	return job->alignment == RANK_ALONE ? NAN : ranks->blames[i].wait_ns / job->wait_ns;
}

struct ranks_spread ranks_spread(const struct ranks *ranks)
{
	double *ratios = malloc(ranks->count * sizeof(*ratios));
	struct ranks_spread spread = {NAN, NAN, NAN};
	size_t count = 0, i;

	for (i = 0; ratios && i < ranks->count; i++)
		if (!isnan(ranks->rows[i].finding.stall_ratio))
			ratios[count++] = ranks->rows[i].finding.stall_ratio;
	if (count) {
		stats_sort(ratios, count);
		spread = (struct ranks_spread){ratios[0], ratios[(count - 1) / 2],
					       ratios[count - 1]};
	}
	free(ratios);
	return spread;
}

size_t ranks_without_loader(const struct ranks *ranks)
{
	size_t count = 0, i;

	for (i = 0; i < ranks->count; i++)
		count += ranks->rows[i].finding.gap == STALL_GAP_NO_BATCHES;
	return count;
}

bool ranks_uneven(const struct ranks *ranks, struct ranks_uneven *ret)
{
	double more_ns;

	*ret = (struct ranks_uneven){0};
	for (size_t i = 0; i < ranks->count; i++)
		if (!ranks->rows[i].step.is_split)
			return false;
	for (int part = 0; part < STEP_PART_MAX; part++) {
		struct ranks_uneven found = {.part = part};

		for (size_t i = 0; i < ranks->count; i++) {
			const double ns = ranks->rows[i].step.ns[part];

			if (ns > found.ns) {
				found.next_ns = found.ns;
				found.ns = ns;
				found.row = i;
			} else if (ns > found.next_ns) {
				found.next_ns = ns;
			}
		}
		if (part != STEP_BACKWARD && found.ns - found.next_ns > ret->ns - ret->next_ns)
			*ret = found;
	}
	more_ns = ret->ns - ret->next_ns;
	if (ranks->job.alignment != RANK_BY_STEP || ranks->count < 2 ||
	    !(more_ns >= UNEVEN * ranks->rows[ret->row].finding.account.time_ns))
		return false;
	for (size_t i = 0; i < ranks->count; i++)
		if (i != ret->row &&
		    !(ranks->rows[i].step.ns[STEP_BACKWARD] -
			      ranks->rows[ret->row].step.ns[STEP_BACKWARD] >=
		      more_ns / 2))
			return false;
	return true;
}

size_t ranks_worst(const struct ranks *ranks)
{
	struct ranks_uneven uneven;
	size_t worst = 0, i;

	if (!ranks->rows[0].is_dispatched && !ranks->job.culprit_count &&
	    ranks_uneven(ranks, &uneven))
		return uneven.row;
	for (i = 0; i < ranks->count && !ranks->rows[0].is_dispatched; i++)
		if (ranks->blames[i].wait_ns > ranks->blames[worst].wait_ns)
			worst = i;
	return worst;
}

static int by_blame(const void *a, const void *b, void *context)
{
	const struct ranks *ranks = context;
	size_t left = *(const size_t *)a, right = *(const size_t *)b;
	double x = ranks->blames[left].wait_ns, y = ranks->blames[right].wait_ns;
	double u = ranks->rows[left].finding.stall_ratio,
	       v = ranks->rows[right].finding.stall_ratio;

	if (x != y)
		return x > y ? -1 : 1;
	if (u != v && !(isnan(u) && isnan(v)))
		return u > v || isnan(v) ? -1 : 1;
	return left < right ? -1 : left > right;
}

void ranks_order(const struct ranks *ranks, size_t *ret)
{
	for (size_t i = 0; i < ranks->count; i++)
		ret[i] = i;
	if (ranks->count > RANKS_MOST_ROWS)
		qsort_r(ret, ranks->count, sizeof(*ret), by_blame, (void *)(uintptr_t)ranks);
}

/* Returns the least world size that a rank recorded; -1: no rank recorded one. */
static int64_t least_world_size(const struct ranks *ranks, int64_t *ret_rank)
{
	int64_t least = -1;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct rank_row *row = &ranks->rows[i];

		if (row->world_size > 0 && (least < 0 || row->world_size < least)) {
			least = row->world_size;
			*ret_rank = row->rank;
		}
	}
	return least;
}

static void put_world_size(const struct ranks *ranks, struct text *text)
{
	int64_t rank, size = least_world_size(ranks, &rank);

	if (size > 0 && size != ranks->world_size)
		text_add(text, "the ranks disagree about how many they are: rank %" PRId64
			 " says %s, another says %s; they may belong to different jobs", rank,
			 UNITS_COUNT(size), UNITS_COUNT(ranks->world_size));
}

static void put_shifted(const struct ranks *ranks, struct text *text)
{
	const struct rank_finding *job = &ranks->job;

	if (!job->shifted_count)
		return;
	text_add(text, "the first batch of rank %" PRId64, ranks->rows[job->shifted].rank);
	if (job->shifted_count > 1)
		text_add(text, " and %zu more", job->shifted_count - 1);
	text_add(text, " has another number than the others': %s",
		 job->alignment == RANK_ALONE ? "the ranks may wait for each other all the same, "
						"so more time may be lost"
					      : "other steps than the same ones may be compared, "
						"so the loss is only a guess");
}

static void put_apart(const struct ranks *ranks, struct text *text)
{
	if (ranks->job.apart_ns > 0)
		text_add(text, "by its host's clock a rank begins and ends %s apart from the "
			 "others: if that clock is wrong, more time may be lost",
			 UNITS_TIME(ranks->job.apart_ns));
}

const char *const ranks_doubt_ids[RANKS_DOUBTS] = {"shifted_batches", "clocks_apart", "world_size"};

bool ranks_doubt(const struct ranks *ranks, size_t which, char text[RANKS_DOUBT])
{
	static void (*const put[RANKS_DOUBTS])(const struct ranks *ranks, struct text *text) = {
		put_shifted, put_apart, put_world_size};

	*text = '\0';
	put[which](ranks, &(struct text){text, RANKS_DOUBT});
	return *text;
}
