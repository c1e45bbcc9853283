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

/* Counts page faults that read from storage, and blocks that were read otherwise. */
static struct scope_storage storage_of(int whose)
{
	struct rusage usage;

	if (sys_call2(SYS_getrusage, whose, &usage) < 0)
		return (struct scope_storage){0};
	return (struct scope_storage){(uint32_t)usage.ru_inblock, (uint32_t)usage.ru_majflt};
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
	/* Files opened elsewhere do not count: a worker's sending thread opens some, too. */
	load->others_read =
		segment_others(thread->slot, load->others) &&
		(load->others[DLPROF_CLASS_READ].count || load->others[DLPROF_CLASS_DECODE].count);
	if (unlikely(load->others_read))
		load->process_blocks = storage_of(RUSAGE_SELF).blocks;
	memcpy(load->before, thread->slot->counters, sizeof(load->before));
	load->storage = storage_of(RUSAGE_THREAD);
	load->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	load->begin_ns = clock_now_ns();
}

void scope_load_cancel(struct thread *thread, const struct scope_load *load)
{
	if (thread_is_in_life(load->life))
		leave(thread, load);
}

#define DELTA(class, field) (now[class].field - before[class].field)

static void add_others(const struct scope_load *load, const struct dlprof_counter *now,
		       uint32_t process_blocks, struct dlprof_load *sums)
{
	const struct dlprof_counter *before = load->others;

	sums->open_count += (uint32_t)DELTA(DLPROF_CLASS_OPEN, count);
	sums->read_count += (uint32_t)DELTA(DLPROF_CLASS_READ, count);
	sums->read_bytes += DELTA(DLPROF_CLASS_READ, bytes);
	sums->decode_count += (uint32_t)DELTA(DLPROF_CLASS_DECODE, count);
	sums->decode_bytes += DELTA(DLPROF_CLASS_DECODE, bytes);
	if (load->others_read)
		sums->storage_blocks = process_blocks - load->process_blocks;
}

/* Counts page faults. Their time is the part of the load that nothing else explains. */
static void add_faults(struct thread *thread, uint32_t count, uint64_t duration_ns,
		       const struct dlprof_load *sums)
{
	const uint64_t seen_ns =
		sums->cpu_ns + sums->blocked_ns + sums->open_ns + sums->read_ns;

	if (unlikely(count) && duration_ns > seen_ns)
		waits_add_faults(thread, count, duration_ns - seen_ns);
}

/* Fills the record. Returns false if the load began before a fork, in the parent. */
static bool load_event(struct thread *thread, const struct scope_load *load, uint32_t samples,
		       bool failed, struct dlprof_event *ret_event)
{
	uint64_t end_ns = clock_now_ns();
	const struct scope_storage storage = storage_of(RUSAGE_THREAD);
	const struct dlprof_counter *now, *before = load->before;
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_LOAD,
		.flags = failed ? DLPROF_FLAG_FAILED : 0,
		.worker = thread->worker,
		.begin_ns = load->begin_ns,
		.duration_ns = end_ns - load->begin_ns,
		.stream = thread->stream,
		.generation = thread->generation,
		.task = thread->task,
		.load =
			{
				.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - load->cpu_ns,
				.storage_blocks = storage.blocks - load->storage.blocks,
				.samples = samples,
			},
	};
	struct dlprof_counter others[DLPROF_CLASS_MAX];
	struct dlprof_load *sums = &event.load;
	uint32_t process_blocks = 0;
	bool alone;

	if (!thread_is_in_life(load->life))
		return false;
	/* Read other threads' counters now: once this load has ended, another one may begin. */
	alone = load->alone && unlikely(segment_others(thread->slot, others));
	if (alone && load->others_read)
		process_blocks = storage_of(RUSAGE_SELF).blocks;
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
	add_faults(thread, storage.faults - load->storage.faults, event.duration_ns, sums);
	if (alone)
		add_others(load, others, process_blocks, sums);
	/* UINT32_MAX: nothing was observed, which is not the same as 0. */
	if (!sums->decode_count && !sums->decode_ns && (!decoders_reached || decoders_missed))
		sums->decode_count = UINT32_MAX;
	if (DELTA(DLPROF_CLASS_COLLATE, count))
		event.flags |= DLPROF_FLAG_COLLATE_SEEN;
	*ret_event = event;
	return true;
}

void scope_load_end(struct thread *thread, const struct scope_load *load, uint32_t samples,
		    bool failed)
{
	struct dlprof_event event;

	if (!load_event(thread, load, samples, failed, &event))
		return;
	thread_push(thread, &event);
	clock_refine();
}
