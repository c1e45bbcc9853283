/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_device.h - reads the GPUs of a run: their names, and what each did during the batches. */
#pragma once

#include "store/database/run.h"

#define GPU_DEVICE_MOST  32
#define GPU_DEVICE_BYTES 160

struct gpu_device {
	int64_t number;
	char name[GPU_DEVICE_BYTES]; /* name and place of the device; "": unknown */
	double batch_count;          /* NAN (below, too): unknown, or this is the only device */
	double fed_count;            /* number of steps in which it got data from the host */
	double step_ns, busy_ns, idle_wait_ns, h2d_bytes, peer_bytes;
};

struct gpu_device_list {
	struct gpu_device items[GPU_DEVICE_MOST]; /* sorted by number */
	size_t count;
};

int gpu_device_list_read(struct db *db, const struct batch_filter *filter,
			 struct gpu_device_list *ret_list);
