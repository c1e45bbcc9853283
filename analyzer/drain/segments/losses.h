/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - what is missing of a process: the sums over all of its segments, which come and go, as
 * its threads and the programs that it becomes have segments of their own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/write/write.h"

/* Of one run, all zero at first. */
struct losses {
	struct loss *list;
	size_t count;
};

/* One of its segments lost so many more. `what`: a constant. 0 or -errno. */
int losses_add(struct losses *losses, struct writer *writer, int32_t pid, const char *what,
	       int64_t more);

/* All segments are told of anew. */
void losses_forget(struct losses *losses);
