/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - adds the call stacks of slow operations to the rows of these operations. */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

/* Unwinds at most `most` stacks. Stacks whose operation has no row yet stay for the next call. */
int stacks_take(struct writer *writer, struct segment *segment, int most, int *ret_done);
