/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c - the end that runs no destructor, which is what a DataLoader's worker takes, and
 * fork().
 *
 * The end says that the process ended by itself; nothing that is recorded depends on it. How a
 * child comes to be is no matter either; only that we do not hold a lock of ld.so's at that moment.
 * That is asked of glibc and not of a wrapper, for forkpty() and daemon() fork within it.
 */
#include "hooks/hook.h"

#include "cuda/attach.h"
#include "hooks/dl.h"
#include "hooks/module.h"
#include "segment.h"

#define DEFINE_EXIT(hook_name)                                                                     \
	HOOK_EXPORT void hook_name(int status)                                                     \
	{                                                                                          \
		if (unlikely(activate_is_here())) {                                                \
			attach_finish();                                                           \
			segment_mark_end();                                                        \
		}                                                                                  \
		real.hook_name(status);                                                            \
		__builtin_unreachable();                                                           \
	}
DEFINE_EXIT(_exit)
DEFINE_EXIT(_Exit)

/* What glibc's pthread_atfork() calls. Weak: musl, under which none of this runs, has it not. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *library) __attribute__((weak));
extern void *const __dso_handle HIDDEN;

static void forked(void)
{
	activate_forked();
	module_forked();
	dl_closing = 0; /* the threads that did are not here */
	thread_self = NULL;
}

void hook_forks(void)
{
	if (__register_atfork)
		__register_atfork(module_fork_begins, module_fork_ended, forked,
				  (void *)&__dso_handle);
}
