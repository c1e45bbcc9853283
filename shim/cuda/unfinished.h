/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unfinished.h - operations that had not ended when another user made CUPTI give back everything.
 * Their records have no end, often no begin, and never come again.
 *
 * Operations of one stream run one after the other. So such an operation began no earlier than the
 * last whole one of its stream had ended, and it had ended when the next one of its stream began.
 * The time between is a gap. If its stream is not used again, it may run for UNFINISHED_LONGEST_NS.
 * Of the writing thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define UNFINISHED_LONGEST_NS UINT64_C(15000000000)

/* An operation whose record is whole. */
void unfinished_pass(uint32_t device, uint32_t stream, uint64_t begin_ns, uint64_t end_ns);

/* When one began whose record has no end, at the earliest. `begin_ns`: as the record has it, or 0.
 */
uint64_t unfinished_since(uint32_t device, uint32_t stream, uint64_t begin_ns,
			  uint64_t requested_ns);

/* It was cut off by another user, at `forced_ns`. */
void unfinished_cut(uint32_t device, uint32_t stream, uint64_t since_ns, uint64_t forced_ns);

/* Since when nothing is known, if that was not asked since the last one was cut off. */
bool unfinished_begins(uint64_t *ret_begin_ns);

/* Whether all have ended, and when, at the latest. */
bool unfinished_ended(uint64_t now_ns, uint64_t *ret_end_ns);
