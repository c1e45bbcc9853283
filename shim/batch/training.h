/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.h - splits steps into parts, by what the thread does with the batch that it took last.
 *
 * The time before a known part is a part, too: before a backward pass it is the forward pass, and
 * before an optimizer, work on gradients. What is left at the step's end is the rest.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

/* Leave the thread's outermost wait out of its step. Call these two before and after the wait. */
void training_pause(struct thread *thread, uint64_t now_ns);
void training_resume(struct thread *thread, uint64_t now_ns);

/* Call one when a wait has ended: with a batch, which begins a step, or with the epoch's end. */
void training_batch(struct thread *thread, const struct dlprof_event *batch);
void training_stop(struct thread *thread, const struct dlprof_event *stop);

/* Leaves out of the step the time `ns`, in which an older batch was freed. */
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

/* Call these around an optimizer's step(), nested or not. The end may be left out if it raised. */
bool training_optimizer_begin(void);
void training_optimizer_end(void);

/* Notes that an optimizer is compiled, so that its step() will not be seen. */
void training_optimizer_compiled(void);
