/* SPDX-License-Identifier: Apache-2.0 */
#include "record/span.h"

#include <sys/uio.h>

#include "base/config.h"
#include "base/sys.h"
#include "base/text.h"
#include "dlprof/stack.h"
#include "record/activate.h"
#include "record/segment.h"
#include "record/tally.h"

#if defined(__x86_64__)

static struct dlprof_stack *take_place(void)
{
	for (uint32_t i = 0; i < DLPROF_STACK_COUNT; i++) {
		struct dlprof_stack *stack = segment_stack(i);
		uint32_t expected = DLPROF_STACK_FREE;

		if (stack && atomic_compare_exchange_strong(&stack->state, &expected,
							    DLPROF_STACK_TAKEN))
			return stack;
	}
	return NULL;
}

/*
 * Copies memory up to the first unmapped page. Returns the number of bytes. Uses a system call, as
 * another thread may unmap pages, and a sanitizer may object to memcpy().
 */
static uint32_t copy(void *target, uintptr_t source, size_t size)
{
	struct iovec to = {target, size}, from = {(void *)source, size};
	long r = sys_call6(SYS_process_vm_readv, sys_getpid(), (long)&to, 1, (long)&from, 1, 0);

	return r > 0 ? (uint32_t)r : 0;
}

/* Keeps a copy of this thread's stack for the operation that began at `begin_ns`, just recorded. */
__attribute__((noinline)) static void stack_keep(struct thread *thread, uint64_t begin_ns)
{
	struct dlprof_stack *stack = activate_is_here() ? take_place() : NULL;
	uint64_t *registers;

	if (!stack)
		return;
	registers = stack->registers;
	/* One asm block, so that the unwind information of one address fits all registers. */
	__asm__ volatile("movq %%rsp, 8(%0)\n\t"
			 "movq %%rbp, 16(%0)\n\t"
			 "movq %%rbx, 24(%0)\n\t"
			 "movq %%r12, 32(%0)\n\t"
			 "movq %%r13, 40(%0)\n\t"
			 "movq %%r14, 48(%0)\n\t"
			 "movq %%r15, 56(%0)\n\t"
			 "leaq 0(%%rip), %%rax\n\t"
			 "movq %%rax, 0(%0)"
			 :
			 : "r"(registers)
			 : "rax", "memory");
	stack->size = copy(stack->bytes, registers[DLPROF_STACK_RSP], DLPROF_STACK_BYTES);
	stack->tid = thread->tid;
	stack->begin_ns = begin_ns;
	atomic_store_explicit(&stack->state, DLPROF_STACK_FULL, memory_order_release);
}

#else

static void stack_keep(struct thread *thread, uint64_t begin_ns)
{
}

#endif

void span_unwind(struct thread *thread, uintptr_t address)
{
	while (thread->frame->address <= address)
		thread->frame--;
}

static inline __attribute__((always_inline)) bool begin_in(struct span *span, struct thread *thread,
							   enum dlprof_class class)
{
	if (unlikely(thread->busy))
		return false;
	span_unwind(thread, (uintptr_t)span);
	if (unlikely(thread_is_full(thread)))
		return false;
	span->class = class;
	span->tally = NULL;
	span_push(span, thread, clock_ticks());
	return true;
}

RARELY bool span_begin_rarely(struct span *span, enum dlprof_class class)
{
	struct thread *thread = thread_get();

	return thread && begin_in(span, thread, class);
}

OFTEN bool span_begin_in_load(struct span *span, enum dlprof_class class)
{
	struct thread *thread = thread_loading();

	span->fd = -1;
	span->path = NULL;
	span->uncounted = true;
	return thread && begin_in(span, thread, class);
}

OFTEN void span_cancel(struct span *span)
{
	if (likely(activate_on() && span->thread))
		span_unwind(span->thread, (uintptr_t)span);
}

/* A thread may record CREDIT_MAX slow operations of each class, and one more every CREDIT_NS. */
#define CREDIT_MAX 16
#define CREDIT_NS  UINT64_C(2000000000)

static bool spend_credit(struct thread *thread, enum dlprof_class class, uint64_t now_ns)
{
	uint64_t earned = thread->slow_credit_ns ? (now_ns - thread->slow_credit_ns) / CREDIT_NS
						 : CREDIT_MAX;

	if (earned) {
		thread->slow_credit_ns = now_ns;
		for (int i = 0; i < DLPROF_CLASS_MAX; i++)
			thread->slow_credits[i] =
				earned + thread->slow_credits[i] > CREDIT_MAX
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
	struct dlprof_event event = thread_event(span->thread, DLPROF_EVENT_OP);
	const char *path = span->path;

	if (config.detail != CONFIG_DETAIL_ALL && !spend_credit(span->thread, span->class, now_ns))
		return;
	event.flags = failed ? DLPROF_FLAG_FAILED : 0;
	event.begin_ns = now_ns - duration_ns;
	event.duration_ns = duration_ns;
	event.op.bytes = bytes;
	event.op.class = span->class;
	if (!path && slow && span->fd >= 0)
		path = tally_visited(span->thread);
	text_copy(event.op.name, sizeof(event.op.name), span->name);
	text_copy(event.op.path, sizeof(event.op.path),
		  text_end(path ? path : "", sizeof(event.op.path)));
	thread_push(span->thread, &event);
	if (slow)
		stack_keep(span->thread, event.begin_ns);
}

static bool is_listed(const struct span *span, uint64_t duration_ns)
{
	return config.detail == CONFIG_DETAIL_ALL ||
	       (config.detail == CONFIG_DETAIL_SLOW && duration_ns >= config.slow_ns &&
		span->class != DLPROF_CLASS_STEP);
}

static RARELY void end_rarely(const struct span *span, uint64_t ticks, uint64_t bytes, bool failed)
{
	uint64_t duration_ns = clock_length_ns(ticks);

	if (span->fd >= 0)
		tally_file(span->thread, span->fd, span->class == DLPROF_CLASS_OPEN, span->own_ns,
			   bytes);
	if (is_listed(span, duration_ns))
		push_operation(span, duration_ns, bytes, failed);
}

static inline __attribute__((always_inline)) void end_at(struct span *span, uint64_t bytes,
							 bool failed, uint64_t now_ticks)
{
	struct thread *thread = span->thread;
	struct dlprof_counter *counter = &thread->slot->counters[span->class];
	uint64_t ticks = now_ticks - span->begin_ticks;
	uint64_t own_ns = clock_length_ns(ticks - thread->frame->inner_ticks);

	span_pop(thread, ticks);
	span->own_ns = own_ns;
	counter->count += !span->uncounted;
	counter->bytes += bytes;
	counter->ns += own_ns;
	if (unlikely(failed))
		counter->failed_count++;
	tally_add(span->tally, !span->uncounted, own_ns, bytes);
	if (unlikely(ticks >= clock_short_ticks ||
		     (span->fd >= 0 && !tally_is_visited(thread, span->fd))))
		end_rarely(span, ticks, bytes, failed);
	else if (span->fd >= 0)
		tally_add(thread->visit.file, span->class == DLPROF_CLASS_OPEN, own_ns, bytes);
}

OFTEN void span_end_at(struct span *span, uint64_t bytes, bool failed, uint64_t now_ticks)
{
	struct thread *thread = span->thread;

	if (unlikely(!activate_on()))
		return;
	span_unwind(thread, (uintptr_t)span - 1);
	if (thread->frame->address == (uintptr_t)span)
		end_at(span, bytes, failed, now_ticks);
}

OFTEN void span_end(struct span *span, uint64_t bytes, bool failed)
{
	struct thread *thread = span->thread;

	if (unlikely(!activate_on()))
		return;
	if (unlikely(thread->frame->address != (uintptr_t)span || !clock_scale))
		span_end_at(span, bytes, failed, clock_ticks());
	else
		end_at(span, bytes, failed, clock_counter());
}
