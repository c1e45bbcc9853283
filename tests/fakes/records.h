/* SPDX-License-Identifier: Apache-2.0 */
/* records.h - activity records as CUPTI lays them out in memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "device.h"

/* Activity kinds, as CUPTI numbers them. */
enum {
	KIND_MEMCPY = 1,
	KIND_MEMSET = 2,
	KIND_KERNEL = 3,
	KIND_DRIVER = 4,
	KIND_RUNTIME = 5,
	KIND_CONCURRENT_KERNEL = 10,
	KIND_OVERHEAD = 17,
	KIND_MEMCPY2 = 22,
	KIND_SYNCHRONIZATION = 38,
	KIND_GRAPH_TRACE = 51,
	KIND_STRANGE = 55, /* unknown to all versions, so no client enables it */
	KIND_COUNT = 56,
};

/* An operation of the device, or a call, that becomes one record. */
struct entry {
	uint32_t kind;
	struct op op;
	uint32_t call; /* number of the driver or runtime function, if this is a call */
	uint32_t thread;
};

uint32_t record_kind(const struct op *op);
size_t record_bytes(uint32_t kind); /* returns 0 for an unknown kind */
void record_write(uint8_t *at, const struct entry *entry, uint64_t begin, uint64_t end);
