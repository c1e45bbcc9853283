/* SPDX-License-Identifier: Apache-2.0 */
#include "scope.h"

#include <string.h>
#include <sys/resource.h>

#include "clock.h"
#include "span.h"
#include "sys.h"
#include "tally.h"

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

/* Page faults do not tell what mmap'ed data cost; blocks read for this thread do. */
static uint32_t storage_blocks(void)
{
	struct rusage usage;

	if (sys_call2(SYS_getrusage, RUSAGE_THREAD, &usage) < 0)
		return 0;
	return (uint32_t)usage.ru_inblock;
}

void scope_load_begin(struct thread *thread, struct scope_load *load)
{
	if (look_before_load)
		look_before_load();
	/* What a decoder's longjmp left behind ends with the load that it was in. */
	span_unwind(thread, (uintptr_t)load);
	load->life = thread_life;
	memcpy(load->before, thread->slot->counters, sizeof(load->before));
	load->storage_blocks = storage_blocks();
	load->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	thread->load_depth++;
	load->begin_ns = clock_now_ns();
}

void scope_load_cancel(struct thread *thread, const struct scope_load *load)
{
	if (thread_is_in_life(load->life))
		thread->load_depth--;
}

bool scope_load_event(struct thread *thread, const struct scope_load *load, uint32_t samples,
		      bool failed, struct dlprof_event *ret_event)
{
	uint64_t end_ns = clock_now_ns();
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
		.load = {
			.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - load->cpu_ns,
			.storage_blocks = storage_blocks() - load->storage_blocks,
			.samples = samples,
		},
	};
	struct dlprof_load *sums = &event.load;

	if (!thread_is_in_life(load->life))
		return false;
	thread->load_depth--;
	tally_settle(thread);
	now = thread->slot->counters;
#define DELTA(class, field) (now[class].field - before[class].field)
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
	/* Not observed is not zero. */
	if (!sums->decode_count && !sums->decode_ns &&
	    (!decoders_reached || decoders_missed))
		sums->decode_count = UINT32_MAX;
	if (DELTA(DLPROF_CLASS_COLLATE, count))
		event.flags |= DLPROF_FLAG_COLLATE_SEEN;
#undef DELTA
	*ret_event = event;
	return true;
}

void scope_load_end(struct thread *thread, const struct scope_load *load, uint32_t samples,
		    bool failed)
{
	struct dlprof_event event;

	if (!scope_load_event(thread, load, samples, failed, &event))
		return;
	thread_push(thread, &event);
	clock_refine();
}
