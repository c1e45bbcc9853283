/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freeing.h - times the freeing of the shared memory in which a batch came.
 *
 * `for batch in loader` frees a batch just after the next one came, which counts as waiting.
 */
#pragma once

#include <stdint.h>

#include "record/thread.h"

void freeing_mapped(const void *address);

struct freeing {
	struct thread *thread;
	uint64_t begin_ns;
};

/* Returns false if the memory is not an older batch's, or if it is freed too late. */
bool freeing_begin(struct freeing *freeing, const void *address);
void freeing_end(const struct freeing *freeing);
