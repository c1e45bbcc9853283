/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_devices.h - measures one step of a process that uses several GPUs.
 *
 * A device is fed if, lately, it got at least a quarter of the bytes that the most fed device got
 * from the host. Times are means over fed devices: if one of them waits for its batch, time is lost
 * even if other devices work. Counts, copies and waits are sums.
 */
#pragma once

#include "analysis/gpu/gpu_step.h"

#define GPU_DEVICES_MOST 32    /* higher device numbers count in sums only */
/* of the bytes of the most fed device, a fed device gets at least this share */
#define GPU_DEVICES_FED  0.25
#define GPU_DEVICES_KEEP 0.875 /* at each step, earlier bytes lose weight by this factor */

/* Must be all zero at first. */
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

/* Notes which device worked. `op` need not belong to a step. */
void gpu_devices_note(struct gpu_devices *devices, const struct gpu_op *op);

/* Measures a step. For several devices, fills steps[GPU_DEVICES_MOST], one for each. */
int gpu_devices_measure(struct gpu_devices *devices, const struct gpu_op *ops, size_t count,
			int64_t begin_ns, int64_t wait_end_ns, int64_t end_ns, struct gpu_step *ret,
			struct gpu_device_step *steps, size_t *ret_count);
