/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_parts.h - where the parts of a step lie in time, so that the GPU's time can be divided, too.
 *
 * The parts are those of STEP_BEFORE to STEP_OPTIMIZER, and the rest of the step, in which
 * checkpoints are saved, too. Each must be one stretch of time: a step with several backward passes
 * and other work in between has no edges.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/account/step_parts.h"
#include "dlprof/event.h"

#define GPU_PARTS          5
#define GPU_PARTS_SLACK_NS 200000 /* part i may begin so much before or after its edge */

/* Returns which part of a step the GPU's part `i` is. */
static inline enum step_part gpu_parts_of_step(int i)
{
	return i < GPU_PARTS - 1 ? (enum step_part)i : STEP_AFTER;
}

/*
 * Finds part i of a step, which is [edges[i], edges[i + 1]). The step ends at end_ns, and its wait
 * at wait_end_ns. Returns false if the parts are not stretches that follow one another.
 */
bool gpu_parts_find(const struct dlprof_parts *told, int64_t wait_end_ns, int64_t end_ns,
		    int64_t edges[GPU_PARTS + 1]);
