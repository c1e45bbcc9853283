/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quick.h - times the usual read by inline code: a short read of the same file as before, in which
 * no other call is timed. All other reads are handed to span.h before anything is counted.
 */
#pragma once

#include "base/clock.h"
#include "record/activate.h"
#include "record/fd.h"
#include "record/span.h"
#include "record/tally.h"

struct quick {
	struct thread_frame *outer;
	uint64_t inner_ticks;		/* inner_ticks of the outer call, before this call */
	struct span span;		/* mostly only thread, fd and begin_ticks are set */
};

/* Begins a read. `life` is what activate_on() returned. False: the caller must use span_begin(). */
static inline bool quick_begin(struct quick *quick, uint32_t life, int fd)
{
	struct thread *thread = thread_self;
	struct thread_frame *outer;

	if (unlikely(!thread || thread->quick_life != life || !tally_is_quick(thread, fd)))
		return false;
	outer = thread->frame;
	if (unlikely(outer->address <= (uintptr_t)&quick->span))
		return false;
	__builtin_prefetch(&thread->slot->counters[DLPROF_CLASS_READ], 1);
	__builtin_prefetch(&thread->visit.file->ns, 1);
	quick->outer = outer;
	quick->inner_ticks = outer->inner_ticks;
	quick->span.thread = thread;
	quick->span.fd = fd;
	quick->span.begin_ticks = clock_counter();
	return true;
}

/* Does the rare cases of quick_end(). Returns `bytes`, so that quick_end() need not save it. */
int64_t quick_end_rarely(struct quick *quick, int64_t bytes, const char *name);

/* Ends a read. `bytes` < 0: the call failed. */
static inline __attribute__((always_inline)) int64_t
quick_end(struct quick *quick, int64_t bytes, const char *name)
{
	struct thread *thread = quick->span.thread;
	struct thread_frame *outer = quick->outer;
	struct dlprof_counter *counter;
	uint64_t ticks, ns;

	if (unlikely(!activate_on() || bytes < 0 || thread->frame != outer ||
		     outer->inner_ticks != quick->inner_ticks))
		goto rarely;
	ticks = clock_counter() - quick->span.begin_ticks;
	if (unlikely(ticks >= clock_short_ticks))
		goto rarely;
	ns = clock_short_ns(ticks);
	outer->inner_ticks = quick->inner_ticks + ticks;
	counter = &thread->slot->counters[DLPROF_CLASS_READ];
	counter->count++;
	counter->bytes += (uint64_t)bytes;
	counter->ns += ns;
	tally_count(thread->visit.file, 0, ns, (uint64_t)bytes);
	return bytes;
rarely:
	return quick_end_rarely(quick, bytes, name);
}
