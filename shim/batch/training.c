/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/training.h"

#include <string.h>

#include "base/clock.h"
#include "record/activate.h"

/*
 * Set once an optimizer's step() was seen. Until then, time in optimizers is unknown, not 0: a step
 * compiled by torch.compile calls no hooks.
 */
static bool sees_optimizers HOT_DATA = false;
static bool misses_optimizers HOT_DATA = false;	/* true: at least one optimizer was compiled */

static OFTEN void book(struct thread_training *training, uint64_t now_ns)
{
	/* The wait may have begun before `since_ns`, which training_skip() has put forward. */
	const uint64_t ns = now_ns > training->since_ns ? now_ns - training->since_ns : 0;

	if (training->part == DLPROF_PART_MAX)
		training->rest_ns += ns;
	else
		training->told.ns[training->part] += ns;
	training->since_ns = now_ns;
}

static OFTEN void book_rest(struct thread_training *training, enum dlprof_part part)
{
	training->told.ns[part] += training->rest_ns;
	training->rest_ns = 0;
}

static void tell(struct thread *thread, uint64_t now_ns)
{
	struct thread_training *training = &thread->training;
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_PARTS,
		.flags = training->batch.is_over ? DLPROF_FLAG_OUTSIDE : 0,
		.worker = -1,
		.begin_ns = now_ns,
		.stream = training->batch.stream,
		.generation = training->batch.generation,
		.task = training->batch.task,
		.parts = training->told,
	};

	if (!sees_optimizers)
		event.parts.ns[DLPROF_PART_BETWEEN] = event.parts.ns[DLPROF_PART_OPTIMIZER] =
			UINT64_MAX;
	training->is_seen = false;
	memset(&training->told, 0, sizeof(training->told));
	thread_push(thread, &event);
}

void training_pause(struct thread *thread, uint64_t now_ns)
{
	struct thread_training *training = &thread->training;

	if (!training->since_ns)
		return;
	book(training, now_ns);
	training->since_ns = 0;
	if (training->is_seen)
		tell(thread, now_ns);
}

void training_resume(struct thread *thread, uint64_t now_ns)
{
	if (thread->training.batch.stream)
		thread->training.since_ns = now_ns;
}

/* Forgets the calls of the last step, as an optimizer that raised has not called its end. */
static void begin_anew(struct thread_training *training)
{
	training->rest_ns = 0;
	training->has_run = false;
	if (training->call_depth)
		return;
	training->part = DLPROF_PART_MAX;
	training->optimizer_depth = 0;
}

void training_batch(struct thread *thread, const struct dlprof_event *batch)
{
	struct thread_training *training = &thread->training;

	if (training->batch.stream != batch->stream)
		training->outer = training->batch;
	training->batch = (struct thread_batch){
		.stream = batch->stream, .generation = batch->generation, .task = batch->task};
	begin_anew(training);
	training_resume(thread, batch->begin_ns + batch->duration_ns);
}

/* Ends the step. If the loop ran within a step of another loader, that step goes on. */
void training_stop(struct thread *thread, const struct dlprof_event *stop)
{
	const struct thread_batch over = {stop->stream, stop->generation, 0, true};
	struct thread_training *training = &thread->training;

	if (training->outer.stream == stop->stream)
		training->outer = over;
	/* The training had already left this iterator for another iterator. */
	if (training->batch.stream != stop->stream)
		return;
	training->batch = training->outer.stream && training->outer.stream != stop->stream
				  ? training->outer
				  : over;
	begin_anew(training);
	training_resume(thread, stop->begin_ns + stop->duration_ns);
}

/* Returns this thread's data of the current step, or NULL if it is in no step. */
static OFTEN struct thread_training *own(void)
{
	struct thread *thread = activate_on() ? thread_known() : NULL;

	return thread && thread->training.since_ns ? &thread->training : NULL;
}

/* Begins a part. Drops the time since a backward pass if an unseen optimizer may have used it. */
static OFTEN void lead_to(struct thread_training *training, enum dlprof_part part)
{
	if (training->part != DLPROF_PART_MAX)
		return;
	if (training->has_run && !sees_optimizers)
		training->rest_ns = 0;
	else if (part == DLPROF_PART_BACKWARD || !training->has_run)
		book_rest(training, DLPROF_PART_BEFORE);
	else
		book_rest(training, DLPROF_PART_BETWEEN);
	training->has_run = true;
}

static OFTEN void enter(struct thread_training *training, enum dlprof_part part, uint64_t now_ns)
{
	book(training, now_ns);
	training->is_seen = true;
	if (part == DLPROF_PART_BACKWARD || part == DLPROF_PART_OPTIMIZER)
		lead_to(training, part);
	if (part == DLPROF_PART_BACKWARD && !training->told.backward_ns)
		training->told.backward_ns = now_ns;
	if (part == DLPROF_PART_SAVE && training->part != DLPROF_PART_SAVE)
		training->told.save_begin_ns = now_ns;
	training->part = part;
}

static OFTEN void leave(struct thread_training *training, enum dlprof_part outer, uint64_t now_ns)
{
	book(training, now_ns);
	if (training->part == DLPROF_PART_SAVE)
		training->told.save_end_ns = now_ns;
	else if (training->part != DLPROF_PART_MAX)
		training->told.last_ns = now_ns;
	else if (outer == DLPROF_PART_OPTIMIZER)
		book_rest(training, training->has_run ? DLPROF_PART_BETWEEN : DLPROF_PART_BEFORE);
	training->part = outer;
}

OFTEN void training_call_begin(struct training_call *call, enum dlprof_part part)
{
	struct thread_training *training = own();

	call->thread = NULL;
	if (!training)
		return;
	call->thread = thread_self;
	call->life = thread_life;
	call->outer = training->part;
	training->call_depth++;
	enter(training, part, clock_now_ns());
}

/* Ends a call. If a batch came during the call, the call counts in that batch's step. */
OFTEN void training_call_end(const struct training_call *call)
{
	struct thread_training *training;

	if (!call->thread || !activate_on() || call->life != thread_life ||
	    thread_self != call->thread)
		return;
	training = &call->thread->training;
	training->call_depth--;
	if (training->since_ns)
		leave(training, call->outer, clock_now_ns());
	else
		training->part = call->outer;
}

OFTEN bool training_optimizer_begin(void)
{
	struct thread_training *training = own();

	sees_optimizers = !misses_optimizers;
	if (!training || training->optimizer_depth++)
		return false;
	enter(training, DLPROF_PART_OPTIMIZER, clock_now_ns());
	return true;
}

OFTEN void training_optimizer_end(void)
{
	struct thread_training *training = own();

	if (!training || !training->optimizer_depth || --training->optimizer_depth)
		return;
	if (training->part == DLPROF_PART_OPTIMIZER)
		leave(training, DLPROF_PART_MAX, clock_now_ns());
}

void training_optimizer_compiled(void)
{
	misses_optimizers = true;
	sees_optimizers = false;
}
