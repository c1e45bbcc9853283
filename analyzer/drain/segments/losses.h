/* SPDX-License-Identifier: Apache-2.0 */
/* losses.h - adds up what each process lost over all its segments, which come and go. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/write/write.h"

/* Must be all zero at first. */
struct losses {
	struct loss *list;
	size_t count;
};

/* Adds a loss of a process. `what` is a constant. */
int losses_add(struct losses *losses, struct writer *writer, int32_t pid, const char *what,
	       int64_t more);

void losses_forget(struct losses *losses);
