/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c - the end that runs no destructor, which is what a DataLoader's worker takes, and
 * fork().
 *
 * The end says that the process ended by itself; nothing that is recorded depends on it. How a
 * child comes to be is no matter either; only that we do not hold a lock of ld.so's at that moment.
 */
#include "hooks/hook.h"

#include "cuda/attach.h"
#include "hooks/dl.h"
#include "hooks/module.h"
#include "segment.h"

#define DEFINE_EXIT(hook_name)                                                                     \
	HOOK_EXPORT void hook_name(int status)                                                     \
	{                                                                                          \
		if (unlikely(activate_on())) {                                                     \
			attach_finish();                                                           \
			segment_mark_end();                                                        \
		}                                                                                  \
		real.hook_name(status);                                                            \
		__builtin_unreachable();                                                           \
	}
DEFINE_EXIT(_exit)
DEFINE_EXIT(_Exit)

HOOK_EXPORT pid_t fork(void)
{
	pid_t pid;

	module_fork_begins();
	pid = real.fork();
	if (pid != 0) {
		module_fork_ended();
	} else {
		module_forked();
		dl_closing = 0; /* the threads that did are not here */
		thread_self = NULL;
	}
	return pid;
}
