/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - losses of each process, summed over its segments: threads, and the programs that it
 * becomes, have segments of their own, which come and go.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/write/write.h"

/* Losses of a run; all zero at first. */
struct losses {
	struct loss *list;
	size_t count;
};

/* Adds what a segment lost since the last call. `what` is a constant. 0 or -errno. */
int losses_add(struct losses *losses, struct writer *writer, int32_t pid, const char *what,
	       int64_t more);

/* Forgets all sums, as all segments will be told of anew. */
void losses_forget(struct losses *losses);
