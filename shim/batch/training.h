/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.h - the parts of a step: what a thread does with the batch that it was handed last.
 *
 * A moment belongs to the innermost part under way, so parts and rest together are the step. Time
 * in no part belongs to what follows it: before a backward pass it is the forward pass, between
 * that and an optimizer it is work on gradients, and at the end of the step it is what came after.
 * Only threads that take batches have a step.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

/* The optimizer is followed in this process, so a time of 0 for it is known. */
extern HIDDEN bool training_sees_optimizers;

/* The thread's outermost wait begins, and ends. */
void training_pause(struct thread *thread, uint64_t now_ns);
void training_resume(struct thread *thread, uint64_t now_ns);

/* A batch was handed out in the wait; or the epoch of that stream ended. */
void training_batch(struct thread *thread, const struct dlprof_event *batch);
void training_stop(struct thread *thread, const struct dlprof_event *stop);

/* Takes time off the step in which memory of an older batch was freed. */
static inline void training_skip(struct thread *thread, uint64_t ns)
{
	if (thread->training.since_ns)
		thread->training.since_ns += ns;
}

/* A call that is a part of the step. */
struct training_call {
	struct thread *thread; /* NULL: this thread has no step */
	uint32_t life;
	enum dlprof_part outer;
};

void training_call_begin(struct training_call *call, enum dlprof_part part);
void training_call_end(const struct training_call *call);

/*
 * Begin and end of an optimizer's step: two calls, of which the second is missing if the step
 * raises. Its closure is no part of it: DLPROF_PART_MAX. False: nothing of this thread is recorded.
 */
bool training_optimizer_begin(void);
void training_optimizer_end(void);
