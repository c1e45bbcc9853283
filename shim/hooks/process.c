/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c - follows fork(), and ends of a process without destructors: those of DataLoader's
 * workers, and by a signal that the process sends to itself.
 *
 * The end is recorded to show that the process ended by itself; no record depends on it. It does
 * not matter how a child is made either, except that we must not hold a lock of ld.so at that
 * moment. glibc calls us at forks, also at those within forkpty() and daemon(), which a wrapper
 * would miss.
 */
#include "hooks/hook.h"

#include "cuda/writer.h"
#include "record/segment.h"
#include "slots/lookup.h"
#include "slots/module.h"

#define DEFINE_EXIT(hook_name)                                                                     \
	HOOK_EXPORT void hook_name(int status)                                                     \
	{                                                                                          \
		if (unlikely(activate_is_here())) {                                                \
			writer_finish();                                                           \
			segment_mark_end();                                                        \
		}                                                                                  \
		real.hook_name(status);                                                            \
		__builtin_unreachable();                                                           \
	}
DEFINE_EXIT(_exit)
DEFINE_EXIT(_Exit)

static bool (*has_end)(void) NEAR = NULL;
static void (*on_end)(void) NEAR = NULL;

/* Returns true if the signal would end this process. */
static bool is_deadly(int number)
{
	struct { /* the kernel's struct sigaction, but only its first field is read */
		void (*handler)(int);
		uint64_t rest[4];
	} action = {SIG_IGN, {0}};
	uint64_t blocked = 0;

	sys_call4(SYS_rt_sigaction, number, NULL, &action, sizeof(blocked));
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof(blocked));
	return action.handler == SIG_DFL && !(blocked & (UINT64_C(1) << (number - 1)));
}

/*
 * Called with the own pid by Python after Ctrl-C's KeyboardInterrupt, and by programs that have
 * cleaned up after SIGTERM. Before the call they restore the signal's default action, so no
 * destructor runs.
 */
HOOK_EXPORT int kill(pid_t pid, int number)
{
	if (unlikely(on_end && (number == SIGINT || number == SIGTERM) && has_end() &&
		     pid == sys_getpid() && is_deadly(number)))
		on_end();
	return real.kill(pid, number);
}

/* Called by glibc's pthread_atfork(). Weak, since musl lacks it, where it is not called. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *library) __attribute__((weak));
extern void *const __dso_handle HIDDEN;

static void forked(void)
{
	activate_forked();
	module_forked();
	lookup_closing = 0; /* threads that were closing are not in this process */
	thread_self = NULL;
}

void hook_process(bool (*has)(void), void (*ends)(void))
{
	has_end = has;
	on_end = ends;
	if (__register_atfork)
		__register_atfork(module_fork_begins, module_fork_ended, forked,
				  (void *)&__dso_handle);
}

/* dlopen() is not wrapped, as it depends on its caller, for $ORIGIN and the like. */
HOOK_EXPORT int dlclose(void *handle)
{
	int result;

	__atomic_fetch_add(&lookup_closing, 1, __ATOMIC_SEQ_CST);
	result = real.dlclose(handle);
	__atomic_fetch_add(&lookup_closes, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(&lookup_closing, 1, __ATOMIC_SEQ_CST);
	return result;
}
