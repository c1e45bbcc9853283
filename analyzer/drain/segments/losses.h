/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - sums what each process lost over its segments: a process with many threads, or one
 * that becomes another program, has several, which come and go.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/write/write.h"

/* Losses of all processes of a run; all zero at first. */
struct losses {
	struct loss *list;
	size_t count;
};

/* Adds `more` losses to a process's sum and writes it; `what` is a constant. 0 or -errno. */
int losses_add(struct losses *losses, struct writer *writer, int32_t pid, const char *what,
	       int64_t more);

/* Forgets all sums, as the losses of all segments will be added again. */
void losses_forget(struct losses *losses);
