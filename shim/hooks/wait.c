/* SPDX-License-Identifier: Apache-2.0 */
/* wait.c - finds out after a wait what it was for, from arguments that the kernel has read. */
#include "hooks/hook.h"

#include <errno.h>

/* Ends a span. Returns false if it did not count, as in a child that shares its parent's memory. */
static bool end_span(struct span *span)
{
	span_end(span, 0, false); /* reaching the time limit is no failure */
	return span->own_ns;
}

void hook_wait_end(struct span *span, enum wait_kind kind)
{
	if (end_span(span))
		waits_add(span->thread, kind, span->own_ns);
}

void hook_wait_fd_end(struct span *span, int fd, uint64_t bytes)
{
	if (end_span(span))
		waits_add_fd(span->thread, fd, span->own_ns, bytes);
}

/* A shorter write() did not wait: it only copied its bytes. */
#define WRITE_LEAST_NS 100000

void hook_write_end(struct span *span, int fd, uint64_t bytes)
{
	const uint64_t end_ticks = clock_ticks();

	if (clock_length_ns(end_ticks - span->begin_ticks) < WRITE_LEAST_NS) {
		span_cancel(span);
		return;
	}
	span_end_at(span, 0, false, end_ticks);
	if (span->own_ns)
		waits_add_write(span->thread, fd, span->own_ns, bytes);
}

void hook_file_lock_end(struct span *span, int fd, bool failed)
{
	const bool is_held = failed && (errno == EWOULDBLOCK || errno == EACCES);

	if (end_span(span))
		waits_add_lock(span->thread, fd, span->own_ns, is_held);
}

/* Counts a wait for the first ready descriptor or, after a timeout, for the first in the list. */
void hook_poll_end(struct span *span, const struct pollfd *fds, nfds_t count, int result)
{
	int fd = -1;

	if (!end_span(span))
		return;
	if (result < 0 && errno != EINTR) {
		waits_add(span->thread, WAIT_OTHER, span->own_ns);
		return;
	}
	for (nfds_t i = 0; i < count && (fd < 0 || result > 0); i++) {
		if (fds[i].fd < 0)
			continue;
		if (fd < 0)
			fd = fds[i].fd;
		if (result > 0 && fds[i].revents) {
			fd = fds[i].fd;
			break;
		}
	}
	if (fd < 0)
		waits_add(span->thread, WAIT_ASLEEP, span->own_ns);
	else
		waits_add_fd(span->thread, fd, span->own_ns, 0);
}

/* Counts the wait for the first ready descriptor. After a timeout, the sets show none. */
void hook_select_end(struct span *span, int count, const fd_set *const sets[3], int result)
{
	if (!end_span(span))
		return;
	for (int i = 0; i < 3 && result > 0; i++)
		for (int fd = 0; sets[i] && fd < count && fd < FD_SETSIZE; fd++)
			if (FD_ISSET(fd, sets[i])) {
				waits_add_fd(span->thread, fd, span->own_ns, 0);
				return;
			}
	waits_add(span->thread,
		  !count || (!sets[0] && !sets[1] && !sets[2]) ? WAIT_ASLEEP : WAIT_OTHER,
		  span->own_ns);
}

/* Most programs store the descriptor as `data`. Python leaves the upper half undefined. */
void hook_epoll_end(struct span *span, const struct epoll_event *events, int result)
{
	if (!end_span(span))
		return;
	if (result > 0 && events[0].data.u32 < FD_PAGE)
		waits_add_fd(span->thread, events[0].data.fd, span->own_ns, 0);
	else
		waits_add(span->thread, WAIT_OTHER, span->own_ns);
}

/* glibc's sem_t since 2.21: the count, then 0 (private) or 128 (shared); else unknown. */
struct semaphore {
	uint64_t data;
	int32_t private;
};

static_assert(sizeof(struct semaphore) <= sizeof(sem_t), "");

enum wait_kind hook_semaphore_kind(const sem_t *semaphore)
{
	const int32_t private = ((const struct semaphore *)(const void *)semaphore)->private;

	return private == 128 ? WAIT_LOCK : private == 0 ? WAIT_THREAD : WAIT_OTHER;
}

HOOK_EXPORT int epoll_pwait2(int epoll, struct epoll_event *events, int count,
			     const struct timespec *timeout, const sigset_t *mask)
{
	struct span span;
	int result;

	if (likely(!activate_on()) || !hook_wait_begin(&span))
		return real.epoll_pwait2(epoll, events, count, timeout, mask);
	span.name = "epoll_pwait2";
	result = real.epoll_pwait2(epoll, events, count, timeout, mask);
	hook_epoll_end(&span, events, result);
	return result;
}
