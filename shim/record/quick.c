/* SPDX-License-Identifier: Apache-2.0 */
#include "record/quick.h"

RARELY int64_t quick_end_rarely(struct quick *quick, int64_t bytes, const char *name)
{
	struct span *span = &quick->span;
	struct thread *thread = span->thread;
	uint64_t inner_ticks;

	if (unlikely(!activate_on()))
		return bytes;
	span_unwind(thread, (uintptr_t)span);
	inner_ticks = thread->frame->inner_ticks - quick->inner_ticks;
	/* This may be a child that was forked within the call. */
	if (thread->frame != quick->outer || inner_ticks >= THREAD_NEVER_TICKS ||
	    thread_is_full(thread))
		return bytes;
	thread->frame->inner_ticks = quick->inner_ticks;
	span->class = DLPROF_CLASS_READ;
	span_push(span, thread, span->begin_ticks);
	thread->frame->inner_ticks = inner_ticks;
	span->tally = NULL;
	span->path = NULL;
	span->uncounted = false;
	span->name = name;
	span_end(span, bytes < 0 ? 0 : (uint64_t)bytes, bytes < 0);
	return bytes;
}
