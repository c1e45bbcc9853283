/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - packs GPU operations into records, since 50,000 records a second would overrun the ring.
 *
 * Operations in a record begin within two seconds of its first one, in any order. For one thread.
 */
#pragma once

#include <stdint.h>

#include "dlprof/event.h"

#define PACK_DEVICE_MAX 16

struct pack {
	void (*push)(const struct dlprof_event *event);
	/* Records that still have room, one for each device, and a last one for no device. */
	struct dlprof_event ops[PACK_DEVICE_MAX + 1];
	struct dlprof_event copies[PACK_DEVICE_MAX + 1];
};

/* `device` -1: no particular one. `what` is a DLPROF_GPU_WHAT(). */
void pack_op(struct pack *pack, int32_t device, uint64_t begin_ns, uint64_t end_ns, uint32_t what);
void pack_copy(struct pack *pack, int32_t device, uint64_t begin_ns, uint64_t end_ns, uint32_t what,
	       uint64_t bytes);

void pack_flush(struct pack *pack);
