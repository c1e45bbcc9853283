/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - packs several GPU operations into one record: with 50,000 kernels a second, a record for
 * each would overrun the ring.
 *
 * A struct pack is all zero at first, except `push`. Pure, and used by one thread. Operations may
 * come in any order; those in one record begin within two seconds of its first.
 */
#pragma once

#include <stdint.h>

#include "dlprof/event.h"

#define PACK_DEVICE_MAX 16

struct pack {
	void (*push)(const struct dlprof_event *event);
	/* The unfinished record of each device, and one for no particular device. */
	struct dlprof_event ops[PACK_DEVICE_MAX + 1];
	struct dlprof_event copies[PACK_DEVICE_MAX + 1];
};

/* Adds an operation on `device` (-1: none in particular). `what`: DLPROF_GPU_WHAT(). */
void pack_op(struct pack *pack, int32_t device, uint64_t begin_ns, uint64_t end_ns, uint32_t what);
void pack_copy(struct pack *pack, int32_t device, uint64_t begin_ns, uint64_t end_ns, uint32_t what,
	       uint64_t bytes);

/* Pushes the records that are not full yet. */
void pack_flush(struct pack *pack);
