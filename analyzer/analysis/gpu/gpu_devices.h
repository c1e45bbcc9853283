/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_devices.h - what the GPU did in one step, where a process drives several.
 *
 * Busy, collectives and gaps are those of the devices that the loader feeds, their mean where it
 * feeds several: while the one that it feeds is idle and its batch is waited for, time is lost,
 * whatever the others still work on; and where it feeds all, it is lost for each alone. Fed are
 * those that get data from the host: a quarter at least of what the most fed one got in the last
 * steps. A device that gets its data from another one (a later stage of a pipeline, a replica that
 * is filled by a peer copy) follows that one. Nobody is fed: all that work count.
 *
 * Counts, copies, memsets and waits of the host are those of all devices together.
 */
#pragma once

#include "analysis/gpu/gpu_step.h"

#define GPU_DEVICES_MOST 32    /* devices by number; those beyond are left out of all but sums */
#define GPU_DEVICES_FED  0.25  /* fed: this share of the most fed device's bytes */
#define GPU_DEVICES_KEEP 0.875 /* share of earlier bytes that each step keeps */

/* All zero at first. */
struct gpu_devices {
	uint32_t working;               /* bits: ever ran a kernel or graph */
	double bytes[GPU_DEVICES_MOST]; /* from the host in the last steps */
};

/* What one device did. */
struct gpu_device_step {
	int16_t device;
	bool fed;
	int64_t busy_ns, gap_data_ns;
	int64_t kernel_count, graph_count;
	int64_t h2d_bytes, peer_bytes;
};

/* Takes note of an operation, in a step or not. */
void gpu_devices_note(struct gpu_devices *devices, const struct gpu_op *op);

/*
 * As gpu_step_measure(); `steps` has room for GPU_DEVICES_MOST, and gets one for each device that
 * ever worked, none where there is only one.
 */
int gpu_devices_measure(struct gpu_devices *devices, const struct gpu_op *ops, size_t count,
			int64_t begin_ns, int64_t wait_end_ns, int64_t end_ns, struct gpu_step *ret,
			struct gpu_device_step *steps, size_t *ret_count);
