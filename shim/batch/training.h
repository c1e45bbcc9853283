/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.h - splits a step into parts: what a thread does with the newest batch that it took.
 *
 * Time outside of parts belongs to the next one: before a backward pass it is the forward pass,
 * before an optimizer work on gradients. At the step's end it is the rest.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

/*
 * If false, time in optimizers is unknown, not 0. Set once one was seen: hooks alone prove nothing,
 * as a step that torch.compile compiled calls none.
 */
extern HIDDEN bool training_sees_optimizers;

/* Called around the thread's outermost wait. */
void training_pause(struct thread *thread, uint64_t now_ns);
void training_resume(struct thread *thread, uint64_t now_ns);

/* Called when a wait ended with a batch or the epoch's end. */
void training_batch(struct thread *thread, const struct dlprof_event *batch);
void training_stop(struct thread *thread, const struct dlprof_event *stop);

/* Leaves out of the step `ns` in which an older batch was freed. */
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

/*
 * Called around an optimizer's step(); if that raises, no end is called. Returns false if not
 * recorded.
 */
bool training_optimizer_begin(void);
void training_optimizer_end(void);
