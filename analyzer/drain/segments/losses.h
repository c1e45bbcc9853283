/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - adds up what each process lost over all its segments: a process with many threads, or
 * one that becomes another program, has several, which come and go.
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

/* Adds `more` to a process's losses and writes the sum. `what`: a constant. Returns 0 or -errno. */
int losses_add(struct losses *losses, struct writer *writer, int32_t pid, const char *what,
	       int64_t more);

/* Forgets all sums, because all segments will be added again. */
void losses_forget(struct losses *losses);
