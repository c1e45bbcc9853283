/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stack.h"

#include <sys/uio.h>

#include "base/sys.h"
#include "dlprof/stack.h"
#include "record/activate.h"
#include "record/segment.h"

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
 * Copies memory up to the first unmapped page. Returns the number of bytes. A system call does it,
 * as another thread may unmap pages, and a sanitizer may object to memcpy().
 */
static uint32_t copy(void *target, uintptr_t source, size_t size)
{
	struct iovec to = {target, size}, from = {(void *)source, size};
	long r = sys_call6(SYS_process_vm_readv, sys_getpid(), (long)&to, 1, (long)&from, 1, 0);

	return r > 0 ? (uint32_t)r : 0;
}

__attribute__((noinline)) void stack_keep(struct thread *thread, uint64_t begin_ns)
{
	struct dlprof_stack *stack = activate_is_here() ? take_place() : NULL;
	uint64_t *registers;

	if (!stack)
		return;
	registers = stack->registers;
	/* All in one asm block, so that the unwind information of one address is true of them. */
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

void stack_keep(struct thread *thread, uint64_t begin_ns)
{
}

#endif
