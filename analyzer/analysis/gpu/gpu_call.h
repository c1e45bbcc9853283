/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_call.h - measures CUDA calls of the host during one step. Calls within calls do not count. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "analysis/gpu/gpu_step.h"

struct gpu_call_times {
	int64_t sync_ns;
	int64_t copy_ns; /* calls that copy; these wait for the copy if the memory is pageable */
	int64_t launch_ns;
	int64_t launch_count;
};

struct gpu_calls {
	struct gpu_call_times training; /* calls of the thread that takes the batches */
	struct gpu_call_times others;
};

/* Measures the calls in the step [begin_ns, end_ns). `ops` are as in gpu_step_measure(). */
void gpu_calls_measure(const struct gpu_op *ops, size_t count, int64_t begin_ns, int64_t end_ns,
		       uint32_t training_thread, struct gpu_calls *ret);
