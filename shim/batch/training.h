/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.h - splits a step into parts: what a thread does with the newest batch that it took.
 *
 * Each moment belongs to the innermost part under way, so parts and rest add up to the step. Time
 * in no part belongs to the part that follows it: before a backward pass it is the forward pass,
 * between that and an optimizer it is work on gradients, and at the end of a step it is the rest.
 * Only threads that take batches have steps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

/*
 * True once an optimizer was seen in this process, so that no time in one means 0, not unknown.
 * Hooks alone prove nothing: a step that torch.compile compiled calls none.
 */
extern HIDDEN bool training_sees_optimizers;

/* Called when the thread's outermost wait begins; training_resume() when that wait ends. */
void training_pause(struct thread *thread, uint64_t now_ns);
void training_resume(struct thread *thread, uint64_t now_ns);

/* Notes that the wait ended with a batch; training_stop() that it ended with the epoch's end. */
void training_batch(struct thread *thread, const struct dlprof_event *batch);
void training_stop(struct thread *thread, const struct dlprof_event *stop);

/* Leaves out of the step `ns` in which memory of an older batch was freed. */
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
 * Called when an optimizer's step() begins and ends; the second call is missing if step() raises.
 * Time in step()'s closure counts for no part (DLPROF_PART_MAX). Returns false if this thread is
 * not recorded.
 */
bool training_optimizer_begin(void);
void training_optimizer_end(void);
