/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_step.h - what the GPU did in one step, from single operations.
 *
 * Busy is the union of kernels and graphs of all devices (gpu_devices.h: of each), without those of
 * a GPU loader, which prepare batches (gpu_streams.h). The rest of the step are gaps, and each
 * nanosecond of a gap is in one class, the first that holds:
 *
 * - data: the training thread waited for this step's batch
 * - h2d: something was copied to a device
 * - sync: the host was blocked by the GPU, in a synchronisation or a copy that it waited for, or
 *   the gap began in such a wait or right after it: the wait let the queue run dry, and the host's
 *   time until the next launch is part of the gap
 * - host: the gap is longer than GPU_STEP_BREATH_NS: nothing was launched
 * - other: copies of other kinds; a loader's kernels; short gaps between two kernels
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlprof/event.h"

#define GPU_STEP_BREATH_NS 10000 /* largest gap between two kernels that were both queued */
#define GPU_STEP_SLACK_NS  20000 /* most time from the GPU's end to the end of the host's wait */

/* Sets of kinds: those that keep a device busy, and calls in which the host waits for it. */
#define GPU_STEP_BIT(kind) (1u << DLPROF_GPU_##kind)
#define GPU_STEP_BUSY      (GPU_STEP_BIT(KERNEL) | GPU_STEP_BIT(NCCL) | GPU_STEP_BIT(GRAPH))
#define GPU_STEP_SYNC                                                                              \
	(GPU_STEP_BIT(SYNC_EVENT) | GPU_STEP_BIT(SYNC_STREAM) | GPU_STEP_BIT(SYNC_CONTEXT) |       \
	 GPU_STEP_BIT(API_SYNC))

struct gpu_op {
	int64_t begin_ns, end_ns;
	uint64_t bytes;
	uint32_t what; /* kind, stream and id, packed by DLPROF_GPU_WHAT() */
	int16_t device;
	uint8_t kind; /* enum dlprof_gpu_kind */
};

struct gpu_step {
	int64_t busy_ns, nccl_ns;
	int64_t compute_ns; /* busy time with anything but collectives */
	int64_t loading_ns; /* time of a GPU loader's kernels */
	int64_t kernel_count, graph_count;
	int64_t h2d_ns, h2d_bytes, h2d_pageable_bytes;
	int64_t d2h_ns, d2h_bytes, memset_ns;
	int64_t anywhere_bytes;                           /* bytes of copies of unknown direction */
	/* sums of waits, which may overlap */
	int64_t sync_event_ns, sync_stream_ns, sync_context_ns;
	int64_t gap_data_ns, gap_h2d_ns, gap_sync_ns, gap_host_ns, gap_other_ns;
};

/*
 * Measures the step. `ops` are sorted by begin_ns and hold all that overlap [begin_ns, end_ns). The
 * wait is the step's first part, up to wait_end_ns. Returns 0 or -ENOMEM.
 */
int gpu_step_measure(const struct gpu_op *ops, size_t count, int64_t begin_ns, int64_t wait_end_ns,
		     int64_t end_ns, struct gpu_step *ret);
