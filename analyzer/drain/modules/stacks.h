/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - adds the call stacks of slow operations to their rows. */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

/*
 * Unwinds up to `most` stacks of the segment; *ret_done: how many. If a stack's operation is not in
 * the database yet, the stack waits for the next call. Returns 0 or -errno.
 */
int stacks_take(struct writer *writer, struct segment *segment, int most, int *ret_done);
