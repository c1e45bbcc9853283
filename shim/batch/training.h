/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.h - the parts of a step: what a thread does with the newest batch that it took.
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

/* Optimizers are followed in this process, so that no time in them really means 0. */
extern HIDDEN bool training_sees_optimizers;

/* Called when the thread's outermost wait begins; training_resume(): when it ends. */
void training_pause(struct thread *thread, uint64_t now_ns);
void training_resume(struct thread *thread, uint64_t now_ns);

/* Notes that the wait ended with a batch; training_stop(): with the end of that stream's epoch. */
void training_batch(struct thread *thread, const struct dlprof_event *batch);
void training_stop(struct thread *thread, const struct dlprof_event *stop);

/* Takes time in which memory of an older batch was freed off the step. */
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
 * Called by an optimizer's step() when it begins and ends; the second call is missing if it raises.
 * Its closure is no part of it: DLPROF_PART_MAX. Returns false if nothing of this thread is
 * recorded.
 */
bool training_optimizer_begin(void);
void training_optimizer_end(void);
