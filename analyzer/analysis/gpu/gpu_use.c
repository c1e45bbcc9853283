/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gpu/gpu_use.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"

#define MOST_NS (INT64_MAX / 8) /* a later time is an error: the ring is damaged */

/* Returns the part's length in ns, or 0 if it was not observed. */
static int64_t length_of(const struct dlprof_parts *told, enum dlprof_part part)
{
	return told->ns[part] > INT64_MAX ? 0 : (int64_t)(told->ns[part] & MOST_NS);
}

bool gpu_parts_find(const struct dlprof_parts *told, int64_t wait_end_ns, int64_t end_ns,
		    int64_t edges[GPU_PARTS + 1])
{
	if (!told->backward_ns || told->backward_ns > MOST_NS || told->last_ns > MOST_NS ||
	    wait_end_ns > MOST_NS || end_ns > MOST_NS)
		return false;
	edges[DLPROF_PART_BEFORE] = wait_end_ns;
	/* If the backward pass waits for another loader, the pass counts from that wait's end. */
	edges[DLPROF_PART_BACKWARD] =
		wait_end_ns > (int64_t)told->backward_ns ? wait_end_ns : (int64_t)told->backward_ns;
	for (int i = DLPROF_PART_BACKWARD; i < GPU_PARTS - 1; i++)
		edges[i + 1] = edges[i] + length_of(told, (enum dlprof_part)i);
	edges[GPU_PARTS] = end_ns;
	return llabs(wait_end_ns + length_of(told, DLPROF_PART_BEFORE) -
		     edges[DLPROF_PART_BACKWARD]) <= GPU_PARTS_SLACK_NS &&
	       llabs(edges[GPU_PARTS - 1] - (int64_t)told->last_ns) <= GPU_PARTS_SLACK_NS &&
	       edges[GPU_PARTS - 1] <= end_ns;
}

#define MOST 1e19 /* a larger sum is an error: the file is damaged */

/* any step has some idle time, so what the GPU lacked is named only from this idle share on */
#define LACK_LEAST    0.3
/* kernels are called short if they take at most this long on average: launching takes longer */
#define SHORT_NS      10e3
#define MANY_LAUNCHES 100  /* launches are too slow only if a step has at least this many */
/*
 * A host that needs longer than this for each kernel does other work than launching. Five trainings
 * on an H100 that were bound by launches needed 23 to 85 us (tests/gpu/README.md).
 */
#define LAUNCH_MOST_NS 100e3

static double *sum_at(struct gpu_sums *sums, size_t i)
{
	return (double *)(void *)sums + i;
}

void gpu_sums_init(struct gpu_sums *sums)
{
	for (size_t i = 0; i < GPU_SUMS_COUNT; i++)
		*sum_at(sums, i) = NAN;
}

void gpu_sums_check(struct gpu_sums *sums)
{
	for (size_t i = 0; i < GPU_SUMS_COUNT; i++)
		if (!(*sum_at(sums, i) >= 0 && *sum_at(sums, i) < MOST))
			*sum_at(sums, i) = NAN;
}

/* Finds what the GPU lacked. Waits in steps of many short kernels mean that launching is slow. */
static void find_lack(struct gpu_use *use)
{
	const double *share = use->gap_share;
	double launches = share[GPU_GAP_HOST] + share[GPU_GAP_OTHER];

	use->lack_share = launches + share[GPU_GAP_SYNC];
	if (!(use->lack_share >= LACK_LEAST) || !(use->lack_share > share[GPU_GAP_DATA]))
		return;
	if (launches > share[GPU_GAP_SYNC])
		use->lack = use->launch_ns > LAUNCH_MOST_NS ? GPU_LACK_HOST : GPU_LACK_LAUNCHES;
	else if (use->kernels >= MANY_LAUNCHES && use->kernel_mean_ns <= SHORT_NS)
		use->lack = GPU_LACK_LAUNCHES;
	else
		use->lack = GPU_LACK_ORDERS;
}

static void find_lack_part(const struct gpu_sums *s, struct gpu_use *use)
{
	use->lack_part = STEP_PART_MAX;
	for (int i = 0; i < GPU_PARTS && use->lack != GPU_LACK_NOTHING; i++) {
		const double share = stats_ratio(s->part_idle_ns[i], use->lack_share * s->step_ns);

		if (!(share > 0.5))
			continue;
		use->lack_part = gpu_parts_of_step(i);
		use->lack_part_share = fmin(1, share);
	}
}

struct gpu_use gpu_use_of(const struct gpu_sums *s)
{
	struct gpu_use use = {
		.is_known = s->batch_count > 0 || s->seen_count > 0,
		.busy_share = fmin(1, stats_ratio(s->busy_ns, s->step_ns)),
		.alone_share = stats_ratio(s->busy_ns - s->compute_ns, s->step_ns),
		.h2d_bytes_per_s = stats_ratio(s->h2d_bytes, s->h2d_ns) * 1e9,
		.pageable_share = stats_ratio(s->h2d_pageable_bytes, s->h2d_bytes),
		.exposed_share = stats_ratio(s->gap_ns[GPU_GAP_H2D], s->step_ns),
		.overlap_share = fmax(0, 1 - stats_ratio(s->gap_ns[GPU_GAP_H2D], s->h2d_ns)),
		.kernels = stats_ratio(s->kernel_count, s->seen_count),
		.kernel_mean_ns = stats_ratio(s->busy_ns, s->kernel_count),
		.launch_ns = stats_ratio(s->gap_ns[GPU_GAP_HOST] + s->gap_ns[GPU_GAP_OTHER],
				   s->kernel_count + s->graph_count),
		.refill_share = stats_ratio(s->refill_ns, s->step_ns),
	};

	/* fmin() and fmax() ignore NAN, so NAN is set here. */
	if (isnan(s->busy_ns) || !(s->step_ns > 0))
		use.busy_share = NAN;
	if (isnan(s->gap_ns[GPU_GAP_H2D]) || !(s->h2d_ns > 0))
		use.overlap_share = NAN;
	use.idle_share = use.unattributed_share = 1 - use.busy_share;
	for (int gap = 0; gap < GPU_GAP_MAX; gap++) {
		use.gap_share[gap] = stats_ratio(s->gap_ns[gap], s->step_ns);
		if (!isnan(use.gap_share[gap]))
			use.unattributed_share -= use.gap_share[gap];
	}
	if (use.unattributed_share < 0)
		use.unattributed_share = 0;
	find_lack(&use);
	find_lack_part(s, &use);
	return use;
}

const char *const gpu_lack_ids[GPU_LACK_MAX] = {
	[GPU_LACK_LAUNCHES] = "launches",
	[GPU_LACK_HOST] = "host",
	[GPU_LACK_ORDERS] = "orders",
};

const char *const gpu_gap_ids[GPU_GAP_MAX] = {
	[GPU_GAP_DATA] = "data", [GPU_GAP_H2D] = "h2d",     [GPU_GAP_SYNC] = "sync",
	[GPU_GAP_HOST] = "host", [GPU_GAP_OTHER] = "other",
};

const char *const gpu_sync_ids[GPU_SYNC_MAX] = {
	[GPU_SYNC_EVENT] = "event",
	[GPU_SYNC_STREAM] = "stream",
	[GPU_SYNC_CONTEXT] = "context",
};
