/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c - follows fork(), and notes the ends of processes that run no destructors: without a
 * note, a process counts as killed.
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

static bool is_deadly(int number)
{
	struct { /* the first fields of the kernel's struct sigaction */
		void (*handler)(int);
		uint64_t rest[4];
	} action = {SIG_IGN, {0}};
	uint64_t blocked = 0;

	sys_call4(SYS_rt_sigaction, number, NULL, &action, sizeof(blocked));
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof(blocked));
	return action.handler == SIG_DFL && !(blocked & (UINT64_C(1) << (number - 1)));
}

/* After Ctrl-C, Python ends by this call, so no destructor runs. */
HOOK_EXPORT int kill(pid_t pid, int number)
{
	if (unlikely(on_end && (number == SIGINT || number == SIGTERM) && has_end() &&
		     pid == sys_getpid() && is_deadly(number)))
		on_end();
	return real.kill(pid, number);
}

/* glibc's function behind pthread_atfork(); musl lacks it. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *library) __attribute__((weak));
extern void *const __dso_handle HIDDEN;

static void forked(void)
{
	activate_forked();
	module_forked();
	lookup_closing = 0; /* closes by the parent's other threads do not go on here */
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

/* dlopen() depends on its caller (for $ORIGIN), so only dlclose() is wrapped. */
HOOK_EXPORT int dlclose(void *handle)
{
	int result;

	__atomic_fetch_add(&lookup_closing, 1, __ATOMIC_SEQ_CST);
	result = real.dlclose(handle);
	__atomic_fetch_add(&lookup_closes, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(&lookup_closing, 1, __ATOMIC_SEQ_CST);
	return result;
}
