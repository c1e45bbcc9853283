/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gpu/gpu_parts.h"

#include <stdlib.h>

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
	/* The step may wait for another loader in its backward pass: then that begins there. */
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
