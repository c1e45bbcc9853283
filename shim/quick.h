/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quick.h - the usual read, in line: of the data file that this thread was at last, with nothing
 * timed inside, not slow, not failed.
 *
 * To the same sums as span.h, to which all else is left: each condition is looked at before anything
 * is counted. For calls that are so short that two more calls and a few dozen stores are seen.
 */
#ifndef QUICK_H
#define QUICK_H

#include "activate.h"
#include "config.h"
#include "fd.h"
#include "span.h"
#include "tally.h"

/* False: nothing has happened, take span.h's way. */
static inline bool quick_begin(struct span *span, int fd)
{
	struct thread *thread = thread_self;

	if (unlikely(!thread || thread->quick_life != thread_life || !tally_is_quick(thread, fd) ||
		     thread->frame->address <= (uintptr_t)span || thread_is_full(thread)))
		return false;
	span->fd = fd;
	span_push(span, thread, clock_counter());
	return true;
}

/* What was begun quickly ends by span_end(). */
void quick_end_rarely(struct span *span, int64_t bytes, const char *name, uint32_t hook);

/* `bytes`: what came in, negative if it failed. */
static inline __attribute__((always_inline)) void quick_end(struct span *span, int64_t bytes,
							     const char *name, uint32_t hook)
{
	struct thread *thread = span->thread;
	struct dlprof_counter *counter;
	uint64_t ticks, ns;

	if (unlikely(!activate_on() || bytes < 0 || thread->frame->address != (uintptr_t)span ||
		     thread->frame->inner_ticks))
		goto rarely;
	ticks = clock_counter() - span->begin_ticks;
	ns = clock_scaled_ns(ticks);
	if (unlikely(ns >= config.slow_ns))
		goto rarely;
	span_pop(thread, ticks);
	counter = &thread->slot->counters[DLPROF_CLASS_READ];
	counter->count++;
	counter->bytes += (uint64_t)bytes;
	counter->ns += ns;
	tally_count(thread->visit.file, 0, ns, (uint64_t)bytes);
	return;
rarely:
	quick_end_rarely(span, bytes, name, hook);
}

#endif
