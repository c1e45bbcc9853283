/* SPDX-License-Identifier: Apache-2.0 */
#include "scope.h"

#include <string.h>
#include <sys/resource.h>

#include "clock.h"
#include "span.h"
#include "sys.h"

/* Page faults do not tell what mmap'ed data cost; blocks read for this thread do. */
static uint64_t storage_bytes(void)
{
	struct rusage usage;

	if (sys_call2(SYS_getrusage, RUSAGE_THREAD, &usage) < 0)
		return 0;
	return (uint64_t)usage.ru_inblock * 512;
}

void scope_load_begin(struct thread *thread, struct scope_load *load)
{
	load->life = thread_life;
	memcpy(load->before, thread->slot->counters, sizeof(load->before));
	load->storage_bytes = storage_bytes();
	load->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	load->begin_ns = clock_now_ns();
}

void scope_load_end(struct thread *thread, const struct scope_load *load, uint32_t samples,
		    bool failed)
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
			.storage_bytes = storage_bytes() - load->storage_bytes,
			.samples = samples,
			/* Decoders are not wrapped yet: not observed is not zero. */
			.decode_count = UINT32_MAX,
		},
	};
	struct dlprof_load *sums = &event.load;

	if (!thread_is_in_life(load->life))
		return;
	now = thread->slot->counters;
#define DELTA(class, field) (now[class].field - before[class].field)
	sums->open_count = (uint32_t)DELTA(DLPROF_CLASS_OPEN, count);
	sums->open_ns = DELTA(DLPROF_CLASS_OPEN, ns);
	sums->read_count = (uint32_t)DELTA(DLPROF_CLASS_READ, count);
	sums->read_ns = DELTA(DLPROF_CLASS_READ, ns);
	sums->read_bytes = DELTA(DLPROF_CLASS_READ, bytes);
	sums->collate_ns = DELTA(DLPROF_CLASS_COLLATE, ns);
	sums->collate_seen = DELTA(DLPROF_CLASS_COLLATE, count) != 0;
#undef DELTA
	thread_push(thread, &event);
}

void scope_collate_begin(struct thread *thread, struct scope_collate *collate)
{
	collate->life = thread_life;
	collate->io_ns = span_io_ns(thread);
	collate->begin_ns = clock_now_ns();
}

void scope_collate_end(struct thread *thread, const struct scope_collate *collate)
{
	struct dlprof_counter *counter;
	uint64_t duration_ns = clock_now_ns() - collate->begin_ns;

	if (!thread_is_in_life(collate->life))
		return;
	counter = &thread->slot->counters[DLPROF_CLASS_COLLATE];
	counter->count++;
	counter->ns += duration_ns - (span_io_ns(thread) - collate->io_ns);
}
