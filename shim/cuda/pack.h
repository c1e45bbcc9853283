/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - puts several GPU operations into a record, as 50,000 records a second would be too many.
 *
 * All operations of a record begin within two seconds of the first one. One thread uses a pack.
 */
#pragma once

#include <stdint.h>

#include "dlprof/event.h"

#define PACK_DEVICE_MAX 16

struct pack {
	void (*push)(const struct dlprof_event *event);
	/* records that have room, one for each device; the last is for no particular device */
	struct dlprof_event ops[PACK_DEVICE_MAX + 1];
	struct dlprof_event copies[PACK_DEVICE_MAX + 1];
};

/* Add an operation. `device` -1: no particular device. `what` is a DLPROF_GPU_WHAT(). */
void pack_op(struct pack *pack, int32_t device, uint64_t begin_ns, uint64_t end_ns, uint32_t what);
void pack_copy(struct pack *pack, int32_t device, uint64_t begin_ns, uint64_t end_ns, uint32_t what,
	       uint64_t bytes);

void pack_flush(struct pack *pack);
