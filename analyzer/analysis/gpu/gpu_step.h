/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_step.h - measures what the GPU did in one step and the wait before it, from its operations.
 *
 * The GPU is busy while kernels or graphs run, except kernels of a GPU loader (gpu_streams.h). All
 * other times are gaps. Each nanosecond of a gap belongs to the first of these classes that fits:
 *
 * - data: the training thread waited for this step's batch
 * - h2d: something was copied to a device
 * - sync: the host waited for the GPU, in a synchronisation or a copy; or the gap began during such
 *   a wait or right after it, because the GPU ran out of work during the wait
 * - host: the gap is longer than GPU_STEP_BREATH_NS, so the host had launched nothing
 * - other: other copies or a loader's kernels ran, or it is the short gap between two kernels
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlprof/event.h"

#define GPU_STEP_BREATH_NS 10000 /* the longest gap between two kernels that are both queued */
#define GPU_STEP_SLACK_NS  20000 /* the host's wait ends at most this long after the GPU's work */

/* Operations that keep a device busy, and calls in which the host waits for it. */
#define GPU_STEP_BIT(kind) (1u << DLPROF_GPU_##kind)
#define GPU_STEP_BUSY      (GPU_STEP_BIT(KERNEL) | GPU_STEP_BIT(NCCL) | GPU_STEP_BIT(GRAPH))
#define GPU_STEP_SYNC                                                                              \
	(GPU_STEP_BIT(SYNC_EVENT) | GPU_STEP_BIT(SYNC_STREAM) | GPU_STEP_BIT(SYNC_CONTEXT) |       \
	 GPU_STEP_BIT(API_SYNC))

struct gpu_op {
	int64_t begin_ns, end_ns;
	uint64_t bytes;
	uint32_t what; /* DLPROF_GPU_WHAT() of kind, stream and id */
	int16_t device;
	uint8_t kind;
};

struct gpu_step {
	int64_t busy_ns, nccl_ns;
	int64_t compute_ns; /* time of kernels and graphs other than NCCL's collectives */
	int64_t loading_ns;
	int64_t kernel_count, graph_count;
	int64_t h2d_ns, h2d_bytes, h2d_pageable_bytes;
	int64_t d2h_ns, d2h_bytes, memset_ns;
	int64_t anywhere_bytes; /* bytes of copies whose direction is unknown */
	/* lengths of all waits of each kind; overlapping waits count twice */
	int64_t sync_event_ns, sync_stream_ns, sync_context_ns;
	int64_t gap_data_ns, gap_h2d_ns, gap_sync_ns, gap_host_ns, gap_other_ns;
	int64_t refill_ns;   /* idle time after a wait for a batch, up to the next kernel */
	int64_t launched_ns; /* length of all kernels that were launched in the step */
};

/* Measures the wait and step in [begin_ns, end_ns) from `ops` of that time, sorted by begin_ns. */
int gpu_step_measure(const struct gpu_op *ops, size_t count, int64_t begin_ns, int64_t wait_end_ns,
		     int64_t end_ns, struct gpu_step *ret);

struct gpu_call_times {
	int64_t sync_ns;
	int64_t copy_ns; /* calls that copy, and wait for the copy if the memory is pageable */
	int64_t launch_ns;
	int64_t launch_count;
};

struct gpu_calls {
	struct gpu_call_times training; /* calls of the thread that takes the batches */
	struct gpu_call_times others;
};

/*
 * Measures the host's CUDA calls in the step [begin_ns, end_ns). Calls within other calls do not
 * count. `ops` are as in gpu_step_measure().
 */
void gpu_calls_measure(const struct gpu_op *ops, size_t count, int64_t begin_ns, int64_t end_ns,
		       uint32_t training_thread, struct gpu_calls *ret);
