/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_devices.h - what the GPU did in one step, if a process uses several devices.
 *
 * Busy, collectives and gaps are the mean over the devices that the loader feeds. While a fed
 * device is idle and its batch is waited for, time is lost, whatever other devices still work on. A
 * device is fed if it gets data from the host: in the last steps at least a quarter of what the
 * most fed device got. A device that gets its data from another one (a later stage of a pipeline, a
 * replica that is filled by a peer copy) follows that one. If no device is fed, all that work
 * count.
 *
 * Counts, copies, memsets and waits of the host are those of all devices together.
 */
#pragma once

#include "analysis/gpu/gpu_step.h"

#define GPU_DEVICES_MOST 32    /* devices with a higher number count in sums only */
#define GPU_DEVICES_FED  0.25  /* a fed device gets this share of the most fed device's bytes */
#define GPU_DEVICES_KEEP 0.875 /* a step keeps this share of the bytes counted for earlier steps */

/* What earlier steps showed of each device; all zero at first. */
struct gpu_devices {
	uint32_t working;               /* bit i: device i ran a kernel or graph at some time */
	double bytes[GPU_DEVICES_MOST]; /* bytes from the host to each device in the last steps */
};

/* What one device did in a step. */
struct gpu_device_step {
	int16_t device;
	bool fed;
	int64_t busy_ns, gap_data_ns;
	int64_t kernel_count, graph_count;
	int64_t h2d_bytes, peer_bytes;
};

/* Notes that an operation's device works; the operation need not be in a step. */
void gpu_devices_note(struct gpu_devices *devices, const struct gpu_op *op);

/*
 * Measures a step as gpu_step_measure() does. `steps` has room for GPU_DEVICES_MOST, and gets one
 * for each device that ever worked, but none if there is only one device.
 */
int gpu_devices_measure(struct gpu_devices *devices, const struct gpu_op *ops, size_t count,
			int64_t begin_ns, int64_t wait_end_ns, int64_t end_ns, struct gpu_step *ret,
			struct gpu_device_step *steps, size_t *ret_count);
