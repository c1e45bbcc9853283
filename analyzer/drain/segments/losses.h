/* SPDX-License-Identifier: Apache-2.0 */
/* losses.h - adds up what each process lost in all its segments, also in removed ones. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/write/write.h"

/* Must be all zero at first. */
struct losses {
	struct loss *list;
	size_t count;
};

/* Adds `more` losses of a process. `what` must be a constant string. */
int losses_add(struct losses *losses, struct writer *writer, int32_t pid, const char *what,
	       int64_t more);

void losses_forget(struct losses *losses);
