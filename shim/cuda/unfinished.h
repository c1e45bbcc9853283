/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unfinished.h - follows operations whose end CUPTI never records, as another user forced a flush.
 *
 * Each leaves a gap in what is known of the GPU, from its begin or, if that is unknown, from the
 * end of the stream's last operation. The gap ends when the stream's next operation begins, at most
 * UNFINISHED_LONGEST_NS after the flush. The writing thread calls these functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define UNFINISHED_LONGEST_NS UINT64_C(15000000000)

void unfinished_pass(uint32_t device, uint32_t stream, uint64_t begin_ns, uint64_t end_ns);

/* Returns the earliest time at which an operation can have begun. `begin_ns` 0: not recorded. */
uint64_t unfinished_since(uint32_t device, uint32_t stream, uint64_t begin_ns,
			  uint64_t requested_ns);

/* Notes that a flush at `forced_ns` cut off an operation that began at `since_ns` or later. */
void unfinished_cut(uint32_t device, uint32_t stream, uint64_t since_ns, uint64_t forced_ns);

/* Returns true, and when a gap began, once for each forced flush that cut off operations. */
bool unfinished_begins(uint64_t *ret_begin_ns);

/* Returns true, and the last one's end, if all operations that were cut off have ended. */
bool unfinished_ended(uint64_t now_ns, uint64_t *ret_end_ns);
