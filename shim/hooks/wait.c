/* SPDX-License-Identifier: Apache-2.0 */
/* wait.c - the one wait whose stand-in is not a row's; the others are rows of hooks.def. */
#include "hooks/hook.h"

HOOK_EXPORT int epoll_pwait2(int epoll, struct epoll_event *events, int count,
			     const struct timespec *timeout, const sigset_t *mask)
{
	struct span span;
	int result;

	if (likely(!activate_on()) || !hook_wait_begin(&span))
		return real.epoll_pwait2(epoll, events, count, timeout, mask);
	span.name = "epoll_pwait2";
	result = real.epoll_pwait2(epoll, events, count, timeout, mask);
	hook_wait_end(&span);
	return result;
}
