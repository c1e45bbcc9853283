/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unfinished.h - operations that another user's forced flush cut off, so they have no end.
 *
 * Each leaves a gap, from the end of the stream's last operation to the begin of its next one, or
 * for at most UNFINISHED_LONGEST_NS. For the writing thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define UNFINISHED_LONGEST_NS UINT64_C(15000000000)

void unfinished_pass(uint32_t device, uint32_t stream, uint64_t begin_ns, uint64_t end_ns);

/* Returns when an operation without an end began at the earliest. `begin_ns`: 0 if unknown. */
uint64_t unfinished_since(uint32_t device, uint32_t stream, uint64_t begin_ns,
			  uint64_t requested_ns);

/* Notes that a flush at `forced_ns` cut off an operation, which began at `since_ns` or later. */
void unfinished_cut(uint32_t device, uint32_t stream, uint64_t since_ns, uint64_t forced_ns);

/* Returns true once for each forced flush that cut off operations, and when their gap began. */
bool unfinished_begins(uint64_t *ret_begin_ns);

/* Returns true if all cut-off operations have ended, and when the last one did. */
bool unfinished_ended(uint64_t now_ns, uint64_t *ret_end_ns);
