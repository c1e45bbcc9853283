/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - adds the call stacks of slow operations to their rows. */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

/* Unwinds up to `most` stacks. A stack whose operation has no row yet waits for the next call. */
int stacks_take(struct writer *writer, struct segment *segment, int most, int *ret_done);
