/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c - the end that runs no destructor: what a DataLoader's worker takes.
 *
 * It says that the process ended by itself; nothing that is recorded depends on it.
 */
#include "hooks/hook.h"

#include "cuda/attach.h"
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
