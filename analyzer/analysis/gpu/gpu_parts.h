/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_parts.h - finds when the parts of a step begin, to divide the GPU's time between them.
 *
 * A step with a part that comes more than once, as two backward passes, is not divided.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/account/step_parts.h"
#include "dlprof/event.h"

#define GPU_PARTS          5
#define GPU_PARTS_SLACK_NS 200000 /* parts may overlap, or lie apart, by this much */

static inline enum step_part gpu_parts_of_step(int i)
{
	return i < GPU_PARTS - 1 ? (enum step_part)i : STEP_AFTER;
}

/* Finds parts [edges[i], edges[i + 1]). Returns false if the parts do not follow one another. */
bool gpu_parts_find(const struct dlprof_parts *told, int64_t wait_end_ns, int64_t end_ns,
		    int64_t edges[GPU_PARTS + 1]);
