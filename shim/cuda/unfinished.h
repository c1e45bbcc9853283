/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unfinished.h - operations that had not ended when another user made a forced flush of CUPTI.
 * Their records have no end, often no begin, and never come again.
 *
 * A stream runs its operations one after the other. So an unfinished one began no earlier than the
 * end of the stream's last complete one, and had ended when the stream's next one began. The time
 * between is a gap. If the stream is not used again, the operation is taken to run for
 * UNFINISHED_LONGEST_NS. Used by the writing thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define UNFINISHED_LONGEST_NS UINT64_C(15000000000)

/* Notes an operation whose record is complete. */
void unfinished_pass(uint32_t device, uint32_t stream, uint64_t begin_ns, uint64_t end_ns);

/* Returns the earliest begin of an operation without an end. `begin_ns`: its record's, or 0. */
uint64_t unfinished_since(uint32_t device, uint32_t stream, uint64_t begin_ns,
			  uint64_t requested_ns);

/* Notes that an operation that began at `since_ns` or later was cut off at `forced_ns`. */
void unfinished_cut(uint32_t device, uint32_t stream, uint64_t since_ns, uint64_t forced_ns);

/* Returns true and the begin of a gap, once for each forced flush that cut operations off. */
bool unfinished_begins(uint64_t *ret_begin_ns);

/* Returns true if all operations that were cut off have ended; *ret_end_ns: when they had. */
bool unfinished_ended(uint64_t now_ns, uint64_t *ret_end_ns);
