/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c - makes the guard process, which runs guard_begin() and the functions it calls.
 *
 * The guard makes raw system calls only, as the host's thread that owns errno may have ended.
 */
#include "base/guard.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/sys.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define MEMORY_BYTES 32768
#define NS_PER_MS    1000000
#define START_MS     50   /* pause between checks of a starting guard */
#define EXEC_MS      1000 /* pause between checks for an execve() */
#define OLD_MS       100  /* pause between checks without pidfd_open() */

struct guard {
	int (*start)(void *argument);
	void *argument;
	int host;
	int guarded;      /* the drain's pid, or -errno */
	uint32_t started;
	uint64_t cookie;  /* a value in the host's memory, which an execve() removes */
	bool can_look;
};

bool guard_is_needed(void)
{
	const char *preload = getenv("LD_PRELOAD");
	int subreaper = 0;

	sys_call2(SYS_prctl, PR_GET_CHILD_SUBREAPER, &subreaper);
	/* Valgrind aborts if a child process is neither a thread nor made by vfork(). */
	return (subreaper || sys_getpid() == 1) && !(preload && strstr(preload, "vgpreload_core"));
}

static bool reap(int pid)
{
	return sys_call4(SYS_wait4, pid, NULL, WNOHANG | __WALL, NULL) != 0;
}

/* Open descriptors and a working folder would keep the host's files in use. */
static void leave_host(void)
{
	sys_call1(SYS_chdir, "/");
	if (sys_call3(SYS_close_range, 0, ~0U, 0) < 0)
		for (int fd = 0; fd < 65536; fd++)
			sys_close(fd);
}

/* Returns true after an execve(), which makes `cookie` unreadable. ESRCH: the host ended. */
static bool is_other_program(const struct guard *guard)
{
	uint64_t seen = 0;
	struct iovec to = {&seen, sizeof(seen)};
	struct iovec from = {(void *)&guard->cookie, sizeof(seen)};
	long r = sys_call6(SYS_process_vm_readv, guard->host, (long)&to, 1, (long)&from, 1, 0);

	return guard->can_look && r != -ESRCH && (r != sizeof(seen) || seen != guard->cookie);
}

/* Returns true if the host became another program, false if the host or the drain ended. */
static bool watch(const struct guard *guard)
{
	struct pollfd ends[] = {
		{(int)sys_call2(SYS_pidfd_open, guard->host, 0), POLLIN, 0},
		{(int)sys_call2(SYS_pidfd_open, guard->guarded, 0), POLLIN, 0},
	};
	const long ms = ends[0].fd < 0 || ends[1].fd < 0 ? OLD_MS : EXEC_MS;

	for (;;) {
		struct timespec pause = {ms / 1000, ms % 1000 * NS_PER_MS};

		/* The host lives as long as getppid() returns its pid. */
		if (sys_call0(SYS_getppid) != guard->host || (ends[0].revents & POLLIN))
			return false;
		if (reap(guard->guarded))
			return false;
		if (is_other_program(guard))
			return true;
		sys_call6(SYS_ppoll, (long)ends, 2, (long)&pause, 0, 0, 0);
	}
}

static void guard_begin(void *memory)
{
	struct guard *guard = memory;

	/* A signal to the host's group must not kill the guard: the host would adopt the drain. */
	sys_call2(SYS_setpgid, 0, 0);
	sys_call2(SYS_prctl, PR_SET_NAME, "dlprof-guard");
	guard->can_look = true;
	guard->can_look = !is_other_program(guard);
	guard->guarded = guard->start(guard->argument);
	/* As soon as the host wakes up, what `argument` points to may be gone. */
	__atomic_store_n(&guard->started, 1, __ATOMIC_RELEASE);
	sys_call3(SYS_futex, &guard->started, FUTEX_WAKE_PRIVATE, 1);
	if (guard->guarded > 0) {
		leave_host();
		/* End the drain, too. Without the guard, the host's new program would adopt the
		 * drain. A guard that stays would keep the old program's memory mapped. */
		if (watch(guard)) {
			sys_call2(SYS_kill, guard->guarded, SIGKILL);
			sys_call4(SYS_wait4, guard->guarded, NULL, __WALL, NULL);
		}
	}
	sys_call1(SYS_exit_group, 0);
}

/* Unmaps the old guard's memory if that guard has ended. */
static void replace(struct guard *with, int pid)
{
	static struct guard *last;
	static int last_pid, host;

	/* After a fork, the child has neither the guard of its parent nor that guard's memory. */
	if (last && host == sys_getpid() && reap(last_pid))
		sys_munmap(last, MEMORY_BYTES);
	last = with;
	last_pid = pid;
	host = sys_getpid();
}

int guard_start(int (*start)(void *argument), void *argument)
{
	const struct timespec pause = {.tv_nsec = START_MS * NS_PER_MS};
	struct guard *guard;
	int pid, guarded;

	guard = sys_mmap(MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (sys_mmap_failed(guard))
		return -ENOMEM;
	sys_call3(SYS_madvise, guard, MEMORY_BYTES, MADV_DONTFORK);
	guard->start = start;
	guard->argument = argument;
	guard->host = sys_getpid();
	guard->guarded = -EAGAIN;
	guard->cookie = clock_now_ns() ^ (uintptr_t)guard;
	pid = (int)sys_spawn(CLONE_VM, (char *)guard + MEMORY_BYTES, guard_begin, guard);
	while (pid > 0 && !__atomic_load_n(&guard->started, __ATOMIC_ACQUIRE)) {
		sys_call4(SYS_futex, &guard->started, FUTEX_WAIT_PRIVATE, 0, &pause);
		if (reap(pid))
			break;
	}
	guarded = pid < 0 ? pid : guard->guarded;
	if (guarded > 0) {
		replace(guard, pid);
		return guarded;
	}
	if (pid > 0)
		sys_call4(SYS_wait4, pid, NULL, __WALL, NULL);
	sys_munmap(guard, MEMORY_BYTES);
	return guarded;
}
