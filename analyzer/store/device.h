/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - what the batches of a loader cost on the GPU, asked of a database. */
#pragma once

#include <stdint.h>

#include "store/db.h"

/* Means over those of the first batches of which each is known; QUERY_UNKNOWN: of none. */
struct device_means {
	int64_t h2d_ns, h2d_bytes, gpu_busy_ns, gpu_idle_wait_ns;
};

/* Of the first `most` rows of a loader. 0 or a negative errno (db.h). */
int device_read(struct db *db, int64_t loader_id, int64_t most, struct device_means *ret);
