/* SPDX-License-Identifier: Apache-2.0 */
#include "span.h"

#include <string.h>

#include "activate.h"
#include "clock.h"
#include "config.h"
#include "stack.h"
#include "sys.h"
#include "tally.h"
#include "text.h"

void span_unwind(struct thread *thread, uintptr_t address)
{
	while (thread->depth && thread->frames[thread->depth - 1].address <= address)
		thread->depth--;
}

static bool begin_in(struct span *span, struct thread *thread, enum dlprof_class class)
{
	struct thread_frame *frame;

	if (unlikely(thread->busy))
		return false;
	span_unwind(thread, (uintptr_t)span);
	if (unlikely(thread->depth == THREAD_FRAME_MAX))
		return false;
	span->thread = thread;
	span->class = class;
	span->tally = NULL;
	frame = &thread->frames[thread->depth++];
	frame->address = (uintptr_t)span;
	frame->inner_ticks = 0;
	frame->decoder = false;
	frame->begin_ticks = clock_ticks();
	return true;
}

bool span_begin(struct span *span, enum dlprof_class class)
{
	struct thread *thread = thread_get();

	return likely(thread) && begin_in(span, thread, class);
}

bool span_begin_in_load(struct span *span, enum dlprof_class class)
{
	struct thread *thread = thread_loading();

	span->fd = -1;
	span->path = NULL;
	span->uncounted = true;
	return thread && begin_in(span, thread, class);
}

void span_cancel(struct span *span)
{
	struct thread *thread = span->thread;

	if (likely(activate_on()))
		span_unwind(thread, (uintptr_t)span);
}

static void add_path(struct text *path, const struct span *span)
{
	char buffer[512];
	TEXT(link, 64);
	const char *full = span->path;
	size_t length;
	int r;

	if (!full && span->fd >= 0) {
		text_add(&link, "/proc/self/fd/");
		text_add_number(&link, span->fd);
		r = sys_readlink(link.buffer, buffer, sizeof(buffer) - 1);
		if (r > 0) {
			buffer[r] = '\0';
			full = buffer;
		}
	}
	if (!full)
		return;
	length = strlen(full);
	text_add(path, length < path->size ? full : full + length - path->size + 1);
}

/*
 * Kept one by one are CREDIT_MAX slow operations of a class and thread, and one more every
 * CREDIT_NS: on a slow file system all of them are slow, and the sums tell it.
 */
#define CREDIT_MAX 16
#define CREDIT_NS  UINT64_C(2000000000)

static bool spend_credit(struct thread *thread, enum dlprof_class class, uint64_t now_ns)
{
	uint64_t earned = thread->slow_credit_ns ? (now_ns - thread->slow_credit_ns) / CREDIT_NS
						 : CREDIT_MAX;

	if (earned) {
		thread->slow_credit_ns = now_ns;
		for (int i = 0; i < DLPROF_CLASS_MAX; i++)
			thread->slow_credits[i] = earned + thread->slow_credits[i] > CREDIT_MAX
							  ? CREDIT_MAX
							  : (uint8_t)(thread->slow_credits[i] + earned);
	}
	if (!thread->slow_credits[class]) {
		thread->slot->unlisted_count++;
		return false;
	}
	thread->slow_credits[class]--;
	return true;
}

static void push_operation(const struct span *span, uint64_t duration_ns, uint64_t bytes,
			   bool failed)
{
	uint64_t now_ns = clock_now_ns();
	bool slow = duration_ns >= config.slow_ns;
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_OP,
		.flags = failed ? DLPROF_FLAG_FAILED : 0,
		.worker = span->thread->worker,
		.begin_ns = now_ns - duration_ns,
		.duration_ns = duration_ns,
		.stream = span->thread->stream,
		.generation = span->thread->generation,
		.task = span->thread->task,
		.op = {.bytes = bytes, .hook = span->hook, .class = span->class},
	};
	struct text text;

	if (config.detail != CONFIG_DETAIL_ALL && !spend_credit(span->thread, span->class, now_ns))
		return;
	text_init(&text, event.op.name, sizeof(event.op.name));
	text_add(&text, span->name);
	text_init(&text, event.op.path, sizeof(event.op.path));
	if (slow || span->path)
		add_path(&text, span);
	thread_push(span->thread, &event);
	if (slow)
		stack_keep(span->thread, event.begin_ns);
}

void span_end(struct span *span, uint64_t bytes, bool failed)
{
	struct thread *thread = span->thread;
	struct thread_frame *frame;
	struct dlprof_counter *counter;
	uint64_t ticks, duration_ns, own_ns;

	/* The call forked: this is the child, and the ring is its parent's. */
	if (unlikely(!activate_on()))
		return;
	while (thread->depth && thread->frames[thread->depth - 1].address < (uintptr_t)span)
		thread->depth--;
	if (unlikely(!thread->depth || thread->frames[thread->depth - 1].address != (uintptr_t)span))
		return;
	frame = &thread->frames[--thread->depth];
	ticks = clock_ticks() - frame->begin_ticks;
	if (thread->depth)
		thread->frames[thread->depth - 1].inner_ticks += ticks;
	duration_ns = clock_length_ns(ticks);
	own_ns = frame->inner_ticks ? clock_length_ns(ticks - frame->inner_ticks) : duration_ns;
	span->own_ns = own_ns;

	counter = &thread->slot->counters[span->class];
	counter->count += !span->uncounted;
	counter->bytes += bytes;
	counter->ns += own_ns;
	counter->failed_count += failed;
	tally_add(span->tally, !span->uncounted, own_ns, bytes);
	if (span->fd >= 0)
		tally_file(thread, span->fd, span->class == DLPROF_CLASS_OPEN, own_ns, bytes);
	if (unlikely(config.detail == CONFIG_DETAIL_ALL ||
		     (config.detail == CONFIG_DETAIL_SLOW && duration_ns >= config.slow_ns &&
		      span->class != DLPROF_CLASS_STEP)))
		push_operation(span, duration_ns, bytes, failed);
}
