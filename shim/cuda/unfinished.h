/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unfinished.h - follows operations whose end CUPTI never records, as a flush was forced.
 *
 * If another user forced the flush, each operation leaves a gap in what is known of the GPU, from
 * its begin or, if that is unknown, from the time that the stream's earlier operations had reached.
 * The gap ends when the stream's next operation begins, at most UNFINISHED_LONGEST_NS after the
 * flush. The writing thread calls these functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define UNFINISHED_LONGEST_NS UINT64_C(15000000000)

void unfinished_pass(uint32_t device, uint32_t stream, uint64_t begin_ns, uint64_t end_ns);

/*
 * Notes an operation without end and, if `begin_ns` is 0, without begin. Its buffer, requested at
 * `requested_ns`, was returned by another user's flush at `forced_ns`; 0: by our flush at the end.
 */
void unfinished_note(uint32_t device, uint32_t stream, uint64_t begin_ns, uint64_t requested_ns,
		     uint64_t forced_ns);

/* Call this at the end of each buffer, which may have a stream's operations in any order. */
void unfinished_settle(void);

/* Returns the earliest begin of operations that still ran at our last flush, or UINT64_MAX. */
uint64_t unfinished_at_end_ns(void);

/* Returns true, and when a gap began, once for each forced flush that cut off operations. */
bool unfinished_begins(uint64_t *ret_begin_ns);

/* Returns true, and when the last one ended, if all operations that were cut off have ended. */
bool unfinished_ended(uint64_t now_ns, uint64_t *ret_end_ns);
