/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_devices.h - measures one step of a process that uses several GPUs.
 *
 * A device is called fed if it recently got many bytes from the host: a quarter or more of what the
 * device with the most got. Times are means over fed devices: if one of them waits for its batch,
 * time is lost even if the others work. Counts, copies and waits are sums over all devices.
 */
#pragma once

#include "analysis/gpu/gpu_step.h"

#define GPU_DEVICES_MOST 32    /* devices with a higher number count in sums only */
/* a fed device gets at least this share of the bytes of the device that gets the most */
#define GPU_DEVICES_FED  0.25
#define GPU_DEVICES_KEEP 0.875 /* the weight of earlier bytes is multiplied by this in each step */

/* What the devices have done so far. All zero at first. */
struct gpu_devices {
	uint32_t working;               /* bit i: device i has run a kernel or graph */
	double bytes[GPU_DEVICES_MOST]; /* bytes from the host to each device, weighted by age */
};

struct gpu_device_step {
	int16_t device;
	bool fed;
	int64_t busy_ns, gap_data_ns;
	int64_t kernel_count, graph_count;
	int64_t h2d_bytes, peer_bytes;
};

/* Notes that the operation's device worked. The operation need not belong to a step. */
void gpu_devices_note(struct gpu_devices *devices, const struct gpu_op *op);

/* Measures a step into *ret. If several devices work, `steps` gets a struct for each of them. */
int gpu_devices_measure(struct gpu_devices *devices, const struct gpu_op *ops, size_t count,
			int64_t begin_ns, int64_t wait_end_ns, int64_t end_ns, struct gpu_step *ret,
			struct gpu_device_step *steps, size_t *ret_count);
