/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - give slow operations in the database the stacks that were kept of them. */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

/*
 * Unwinds at most `most` stacks of the segment; *ret_done: how many. One whose operation is not in
 * the database yet waits for the next time.
 */
int stacks_take(struct writer *writer, struct segment *segment, int most, int *ret_done);
