/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freeing.h - times how long the training takes to free the shared memory of an older batch.
 *
 * `for batch in loader` frees a batch just after the next one came. That time counts as waiting.
 */
#pragma once

#include <stdint.h>

#include "record/thread.h"

void freeing_mapped(const void *address);

/* Called when the thread's next() returns a batch: older batches may be freed from now on. */
void freeing_batch_came(struct thread *thread, uint64_t now_ns);

struct freeing {
	struct thread *thread;
	uint64_t begin_ns;
};

/* Returns false if the loop body may be what frees `address`, or if no batch is mapped there. */
bool freeing_begin(struct freeing *freeing, const void *address);
void freeing_end(const struct freeing *freeing);
