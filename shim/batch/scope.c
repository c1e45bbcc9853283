/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/scope.h"

#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/sys.h"
#include "record/segment.h"
#include "record/span.h"
#include "record/tally.h"
#include "record/waits.h"

static volatile bool decoders_reached, decoders_missed;

void scope_decoders_missed(bool missed)
{
	decoders_missed = missed;
}

void scope_decoders_reached(void)
{
	decoders_reached = true;
}

static void (*look_before_load)(void) NEAR = NULL;

void scope_on_load(void (*look)(void))
{
	look_before_load = look;
}

static struct rusage usage_of(int whose)
{
	struct rusage usage = {.ru_nvcsw = -1};

	sys_call2(SYS_getrusage, whose, &usage);
	return usage;
}

#define UNASKED_NS 1000000

/*
 * Reading the CPU time is slow. If the thread was not switched since the last reading, it has run
 * all the time, except while a hypervisor stopped it: hence the limit UNASKED_NS.
 */
struct thread_used scope_used(struct thread *thread, uint64_t now_ns)
{
	const struct rusage usage = usage_of(RUSAGE_THREAD);
	struct thread_used *asked = &thread->used, used = {
		.at_ns = now_ns ? now_ns : clock_now_ns(),
		.pauses = usage.ru_nvcsw,
		.switches = usage.ru_nvcsw + usage.ru_nivcsw,
		.blocks = (uint32_t)usage.ru_inblock,
		.faults = (uint32_t)usage.ru_majflt,
	};

	used.cpu_ns = asked->cpu_ns + used.at_ns - asked->at_ns;
	if (used.switches > 0 && used.switches == asked->switches &&
	    used.at_ns - asked->at_ns < UNASKED_NS)
		return used;
	used.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	used.at_ns = clock_now_ns();
	return *asked = used;
}

static _Atomic uint64_t under_way; /* thread_life in the upper half, loads under way in the lower */
static _Atomic uint32_t overlaps;

static void enter(struct thread *thread, struct scope_load *load)
{
	const uint64_t none = (uint64_t)thread_life << 32;
	uint64_t before = under_way, now;

	load->overlaps = overlaps;
	load->import_depth = thread->import_depth;
	thread->import_depth = 0;
	/* A load within another load is part of the outer one. */
	if (thread->load_depth++)
		return;
	waits_begin();
	/* Loads that the parent began before a fork do not count here. */
	do {
		now = before >> 32 == thread_life ? before : none;
	} while (!atomic_compare_exchange_weak(&under_way, &before, now + 1));
	if (now != none)
		overlaps++;
	load->alone = now == none && thread->tid == (uint32_t)segment_first()->header.pid;
}

/* Ends a load. Returns true if no other load has been under way since it began. */
static bool leave(struct thread *thread, const struct scope_load *load)
{
	const uint64_t one = ((uint64_t)thread_life << 32) + 1;

	thread->import_depth = load->import_depth;
	if (--thread->load_depth)
		return false;
	return atomic_fetch_sub(&under_way, 1) == one && load->alone && load->overlaps == overlaps;
}

void scope_load_begin(struct thread *thread, struct scope_load *load)
{
	if (look_before_load)
		look_before_load();
	/* A decoder's longjmp() may have left spans open. */
	span_unwind(thread, (uintptr_t)load);
	load->life = thread_life;
	load->alone = false;
	enter(thread, load);
	/* Opens by other threads do not count: a worker's sending thread opens files, too. */
	load->others_read =
		segment_others(thread->slot, load->others) &&
		(load->others[DLPROF_CLASS_READ].count || load->others[DLPROF_CLASS_DECODE].count);
	if (unlikely(load->others_read))
		load->process_blocks = (uint32_t)usage_of(RUSAGE_SELF).ru_inblock;
	memcpy(load->before, thread->slot->counters, sizeof(load->before));
	load->used = scope_used(thread, 0);
}

void scope_load_cancel(struct thread *thread, const struct scope_load *load)
{
	if (thread_is_in_life(load->life))
		leave(thread, load);
}

#define DELTA(class, field) (now[class].field - before[class].field)

static void add_others(const struct scope_load *load, const struct dlprof_counter *now,
		       uint32_t blocks, struct dlprof_load *sums)
{
	const struct dlprof_counter *before = load->others;

	sums->open_count += (uint32_t)DELTA(DLPROF_CLASS_OPEN, count);
	sums->read_count += (uint32_t)DELTA(DLPROF_CLASS_READ, count);
	sums->read_bytes += DELTA(DLPROF_CLASS_READ, bytes);
	sums->decode_count += (uint32_t)DELTA(DLPROF_CLASS_DECODE, count);
	sums->decode_bytes += DELTA(DLPROF_CLASS_DECODE, bytes);
	if (load->others_read)
		sums->storage_blocks = blocks - load->process_blocks;
}

/* Counts page faults. Their time is the part of the load that nothing else explains. */
static void add_faults(struct thread *thread, uint32_t count, uint64_t duration_ns,
		       const struct dlprof_load *sums)
{
	const uint64_t seen_ns = sums->cpu_ns + sums->blocked_ns + sums->open_ns + sums->read_ns;

	if (unlikely(count) && duration_ns > seen_ns)
		waits_add_faults(thread, count, duration_ns - seen_ns);
}

static struct dlprof_event load_event(struct thread *thread, const struct scope_load *load,
				      uint32_t samples, bool failed)
{
	const uint64_t end_ns = clock_now_ns();
	const struct thread_used used = scope_used(thread, end_ns), *begin = &load->used;
	const struct dlprof_counter *now, *before = load->before;
	struct dlprof_event event = thread_event(thread, DLPROF_EVENT_LOAD);
	struct dlprof_counter others[DLPROF_CLASS_MAX];
	struct dlprof_load *sums = &event.load;
	uint32_t blocks = 0;
	bool alone;

	event.flags = failed ? DLPROF_FLAG_FAILED : 0;
	event.begin_ns = begin->at_ns;
	event.duration_ns = end_ns - begin->at_ns;
	sums->cpu_ns = used.cpu_ns > begin->cpu_ns ? used.cpu_ns - begin->cpu_ns : 0;
	sums->storage_blocks = used.blocks - begin->blocks;
	sums->samples = samples;
	/* Read other threads' counters now: once this load has ended, another one may begin. */
	alone = load->alone && unlikely(segment_others(thread->slot, others));
	if (alone && load->others_read)
		blocks = (uint32_t)usage_of(RUSAGE_SELF).ru_inblock;
	alone &= leave(thread, load);
	tally_settle(thread);
	waits_end(thread);
	now = thread->slot->counters;
	sums->open_count = (uint32_t)DELTA(DLPROF_CLASS_OPEN, count);
	sums->open_ns = DELTA(DLPROF_CLASS_OPEN, ns);
	sums->read_count = (uint32_t)DELTA(DLPROF_CLASS_READ, count);
	sums->read_ns = DELTA(DLPROF_CLASS_READ, ns);
	sums->read_bytes = DELTA(DLPROF_CLASS_READ, bytes);
	sums->collate_ns = DELTA(DLPROF_CLASS_COLLATE, ns);
	sums->blocked_ns = DELTA(DLPROF_CLASS_WAIT, ns);
	sums->decode_ns = DELTA(DLPROF_CLASS_DECODE, ns);
	sums->decode_bytes = DELTA(DLPROF_CLASS_DECODE, bytes);
	sums->decode_count = (uint32_t)DELTA(DLPROF_CLASS_DECODE, count);
	add_faults(thread, used.faults - begin->faults, event.duration_ns, sums);
	if (alone)
		add_others(load, others, blocks, sums);
	/* UINT32_MAX: nothing was observed, which is not the same as 0. */
	if (!sums->decode_count && !sums->decode_ns && (!decoders_reached || decoders_missed))
		sums->decode_count = UINT32_MAX;
	if (DELTA(DLPROF_CLASS_COLLATE, count))
		event.flags |= DLPROF_FLAG_COLLATE_SEEN;
	return event;
}

void scope_load_end(struct thread *thread, const struct scope_load *load, uint32_t samples,
		    bool failed)
{
	struct dlprof_event event;

	/* A load that began before a fork counts in the parent only. */
	if (!thread_is_in_life(load->life))
		return;
	event = load_event(thread, load, samples, failed);
	thread_push(thread, &event);
	clock_refine();
}
