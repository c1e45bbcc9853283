/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.h - what a thread does with the batch that it was handed last: the parts of its step.
 *
 * A moment belongs to the innermost part that is under way, so that the parts and the rest are the
 * step. What is in no part belongs to what follows it: before a backward pass it is the forward
 * pass, between that and an optimizer it is work on gradients, and at the end of the step it is
 * what came after. Only threads that take batches have a step.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

/* The optimizer is followed in this process, so that its part is known to be 0 where it is. */
extern HIDDEN bool training_sees_optimizers;

/* The thread's outermost wait begins, and ends. */
void training_pause(struct thread *thread, uint64_t now_ns);
void training_resume(struct thread *thread, uint64_t now_ns);

/* ... as it was handed a batch; or as the epoch of that stream ended. */
void training_batch(struct thread *thread, const struct dlprof_event *batch);
void training_stop(struct thread *thread, const struct dlprof_event *stop);

/* So much of its step was no step: memory of an older batch was freed. */
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
 * An optimizer's step begins, and ends: two calls, of which the second fails to come where the step
 * raises. What happens in its closure is no part of it: DLPROF_PART_MAX. False: nothing of this
 * thread is recorded.
 */
bool training_optimizer_begin(void);
void training_optimizer_end(void);
