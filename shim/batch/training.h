/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.h - splits a step into parts, by what a thread does with the batch that it took last.
 *
 * Time between two known parts counts for a part of its own: the forward pass before a backward
 * pass, work on gradients before an optimizer, and at the step's end the rest.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

/* Called before and after the thread's outermost wait. */
void training_pause(struct thread *thread, uint64_t now_ns);
void training_resume(struct thread *thread, uint64_t now_ns);

/* Called when a wait ended with a batch or the epoch's end. */
void training_batch(struct thread *thread, const struct dlprof_event *batch);
void training_stop(struct thread *thread, const struct dlprof_event *stop);

/* Leaves `ns` out of the step, in which an older batch was freed. */
static inline void training_skip(struct thread *thread, uint64_t ns)
{
	if (thread->training.since_ns)
		thread->training.since_ns += ns;
}

struct training_call {
	struct thread *thread; /* NULL: this thread has no step */
	uint32_t life;
	enum dlprof_part outer;
};

void training_call_begin(struct training_call *call, enum dlprof_part part);
void training_call_end(const struct training_call *call);

/* Called around an optimizer's step(). The end is not called if step() raises, or after false. */
bool training_optimizer_begin(void);
void training_optimizer_end(void);

/* Called when some optimizer is compiled: its step() is then not seen. */
void training_optimizer_compiled(void);
