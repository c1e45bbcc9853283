/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests sys_spawn(): the child gets its argument and its own stack, can spawn a child itself, and
 * errno does not change. Without Criterion, since it also runs for other processors in an emulator,
 * which needs a signal at the child's end and copies its memory (usage: test_spawn EMULATED).
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/sys.h"

#define STACK_BYTES 65536

struct task {
	long flags;
	char *stack;
	int depth, made;
};

static char stacks[2][STACK_BYTES] __attribute__((aligned(16)));
static int failure_count;

static void expect(int good, const char *what)
{
	if (!good)
		printf("FAIL: %s\n", what);
	failure_count += !good;
}

static void child(void *argument)
{
	struct task *task = argument;
	char here;
	long pid = 1;
	int status = 0;

	task->made |= 1 << task->depth;
	if (&here < task->stack || &here >= task->stack + STACK_BYTES)
		sys_call1(SYS_exit, 1);
	if (task->depth == 0) {
		struct task inner = {.flags = task->flags, .stack = stacks[1], .depth = 1};

		pid = sys_spawn(task->flags, stacks[1] + STACK_BYTES, child, &inner);
		if (pid < 0 || sys_call4(SYS_wait4, pid, &status, __WALL, NULL) != pid)
			sys_call1(SYS_exit, 2);
		task->made |= inner.made;
	}
	sys_call1(SYS_exit, status ? 3 : 7 * !task->depth);
}

int main(int argc, char **argv)
{
	struct task task = {
		.flags = CLONE_VM | CLONE_VFORK | (argc > 1 ? SIGCHLD : 0),
		.stack = stacks[0],
	};
	int status = 0;
	long pid;

	errno = 77;
	pid = sys_spawn(task.flags, stacks[0] + STACK_BYTES, child, &task);
	expect(pid > 0, "a child");
	expect(sys_call4(SYS_wait4, pid, &status, __WALL, NULL) == pid, "the child is ours");
	expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, "how the child ended");
	expect(argc > 1 || task.made == 3, "what both children wrote");
	/* The kernel refuses a thread that shares no memory. */
	expect(sys_spawn(CLONE_THREAD, stacks[0] + STACK_BYTES, child, &task) == -EINVAL,
	       "what the kernel says");
	expect(errno == 77, "errno");
	return failure_count ? 1 : 0;
}
