/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unfinished.h - operations that another user's forced flush cut off: their records have no end.
 *
 * Each leaves a gap, from the end of its stream's last operation to the begin of the next or,
 * without one, for UNFINISHED_LONGEST_NS. For the writing thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define UNFINISHED_LONGEST_NS UINT64_C(15000000000)

void unfinished_pass(uint32_t device, uint32_t stream, uint64_t begin_ns, uint64_t end_ns);

/* Returns the earliest begin of an operation without an end. `begin_ns` is its record's, or 0. */
uint64_t unfinished_since(uint32_t device, uint32_t stream, uint64_t begin_ns,
			  uint64_t requested_ns);

/* Notes an operation that began at `since_ns` or later, and was cut off at `forced_ns`. */
void unfinished_cut(uint32_t device, uint32_t stream, uint64_t since_ns, uint64_t forced_ns);

/* Returns a gap's begin, once for each forced flush that cut operations off. */
bool unfinished_begins(uint64_t *ret_begin_ns);

/* Returns true if all of them have ended; *ret_end_ns: when. */
bool unfinished_ended(uint64_t now_ns, uint64_t *ret_end_ns);
