/* SPDX-License-Identifier: Apache-2.0 */
#include "stack.h"

#include <string.h>

#include "dlprof/stack.h"
#include "segment.h"
#include "sys.h"

#if defined(__x86_64__)

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One line of /proc/self/maps, "BEGIN-END ...", fed a character at a time. */
struct line {
	uintptr_t begin, end;
	int part;	/* 0: begin, 1: end, 2: the rest */
};

static bool feed(struct line *line, char c, uintptr_t address)
{
	int digit = hex_digit(c);

	if (c == '\n') {
		memset(line, 0, sizeof(*line));
	} else if (line->part == 0) {
		if (digit < 0)
			line->part = 1;
		else
			line->begin = line->begin << 4 | (uintptr_t)digit;
	} else if (line->part == 1) {
		if (digit >= 0) {
			line->end = line->end << 4 | (uintptr_t)digit;
			return false;
		}
		line->part = 2;
		return line->begin <= address && address < line->end;
	}
	return false;
}

/* The end of the mapping that holds the address; 0: there is none to be seen. */
static uintptr_t end_of_mapping(uintptr_t address)
{
	int fd = sys_open("/proc/self/maps", O_RDONLY, 0);
	struct line line = {0};
	uintptr_t end = 0;
	char text[1024];
	long got;

	if (fd < 0)
		return 0;
	while (!end && (got = sys_read(fd, text, sizeof(text))) > 0)
		for (long i = 0; i < got && !end; i++)
			if (feed(&line, text[i], address))
				end = line.end;
	sys_close(fd);
	return end;
}

static struct dlprof_stack *take_place(void)
{
	struct dlprof_segment *segment = segment_first();

	for (int i = 0; segment && i < DLPROF_STACK_COUNT; i++) {
		uint32_t expected = DLPROF_STACK_FREE;

		if (atomic_compare_exchange_strong(&segment->stacks[i].state, &expected,
						   DLPROF_STACK_TAKEN))
			return &segment->stacks[i];
	}
	return NULL;
}

/* Not memcpy(): in a host with a sanitizer that is the sanitizer's, and what lies between the
 * variables of a stack is nothing that one may read; it would end the host. */
static void copy(void *target, uintptr_t source, size_t size)
{
	__asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(size) : : "memory");
}

__attribute__((noinline)) void stack_keep(struct thread *thread, uint64_t begin_ns)
{
	struct dlprof_stack *stack = take_place();
	uint64_t *registers;
	uintptr_t sp;

	if (!stack)
		return;
	registers = stack->registers;
	/* At one instruction, so that its unwind information holds for all of them. */
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
	sp = registers[DLPROF_STACK_RSP];
	/* Known from the last time, unless this is another stack: a coroutine's, say. */
	if (sp < thread->stack_seen || sp >= thread->stack_end) {
		thread->stack_end = end_of_mapping(sp);
		thread->stack_seen = sp;
	}
	stack->size = DLPROF_STACK_BYTES;
	if (thread->stack_end <= sp)
		stack->size = 0;
	else if (thread->stack_end - sp < DLPROF_STACK_BYTES)
		stack->size = (uint32_t)(thread->stack_end - sp);
	copy(stack->bytes, sp, stack->size);
	stack->tid = thread->slot->tid;
	stack->begin_ns = begin_ns;
	atomic_store_explicit(&stack->state, DLPROF_STACK_FULL, memory_order_release);
}

#else	/* where the registers are not known, operations go without */

void stack_keep(struct thread *thread, uint64_t begin_ns)
{
	(void)thread;
	(void)begin_ns;
}

#endif
