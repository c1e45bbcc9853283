/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_call.h - how long the host's threads were in calls of CUDA in one step, from single calls.
 *
 * A call within a call of the same thread (the runtime's into the driver) is part of it: no time
 * and no launch counts twice. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "analysis/gpu/gpu_step.h"

struct gpu_call_times {
	int64_t sync_ns;   /* time in calls that wait until the GPU is done */
	int64_t copy_ns;   /* time in calls that copy; with pageable memory they wait, too */
	int64_t launch_ns; /* time in calls that launch kernels and graphs */
	int64_t launch_count;
};

struct gpu_calls {
	struct gpu_call_times training; /* calls of the thread that takes the batches */
	struct gpu_call_times others;   /* sums over all other threads */
};

/* Measures the calls in the step [begin_ns, end_ns); `ops` are as in gpu_step_measure(). */
void gpu_calls_measure(const struct gpu_op *ops, size_t count, int64_t begin_ns, int64_t end_ns,
		       uint32_t training_thread, struct gpu_calls *ret);
