/* SPDX-License-Identifier: Apache-2.0 */
/* beat.h - the steps of a process without loader and marks: what repeats on its GPU, if anything
 * does. */
#ifndef BEAT_H
#define BEAT_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/gpu_step.h"
#include "drain/gpu.h"

struct beat {
	struct writer *writer;
	int32_t pid;
	/* Writes what the GPU did in a step, whose row is there. */
	int (*measure)(void *context, const struct gpu_batch *batch);
	void *context;
};

/* Of operations that are sorted by begin_ns. Writes a loader "cuda" and its batches, or nothing. */
int beat_find(const struct beat *beat, const struct gpu_op *ops, size_t count);

#endif
