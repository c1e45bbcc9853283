/* SPDX-License-Identifier: Apache-2.0 */
/* pipe.c - read, write and poll, which also carry the batches of loaders that nobody patched. */
#include "hooks/hook.h"

#include "python/pipes.h"

static OFTEN __attribute__((noinline)) ssize_t looked_read(int fd, void *buffer, size_t size)
{
	struct span span;
	ssize_t result;

	if (activate_on() && hook_read_begin(&span, fd)) {
		span.name = "read";
		span.hook = HOOK_ID_read;
		result = real.read(fd, buffer, size);
		span_end(&span, result > 0 ? (uint64_t)result : 0, result < 0);
		return result;
	}
	result = real.read(fd, buffer, size);
	if (pipes_watch && result > 0)
		pipes_read(fd, buffer, result, size);
	return result;
}

HOOK_EXPORT OFTEN ssize_t read(int fd, void *buffer, size_t size)
{
	if (likely(!(activate_on() | pipes_watch)))
		return real.read(fd, buffer, size);
	return looked_read(fd, buffer, size);
}

static __attribute__((noinline)) ssize_t looked_write(int fd, const void *buffer, size_t size)
{
	/* First: who reads it may answer before this thread gets its core back. */
	bool looked = pipes_write(fd, buffer, size, false);
	ssize_t result = real.write(fd, buffer, size);

	if (unlikely(!looked) && result > 0)
		pipes_write(fd, buffer, (size_t)result, true);
	return result;
}

HOOK_EXPORT ssize_t write(int fd, const void *buffer, size_t size)
{
	if (likely(!pipes_watch))
		return real.write(fd, buffer, size);
	return looked_write(fd, buffer, size);
}

static __attribute__((noinline)) int looked_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	struct span span;
	int result;

	if (pipes_watch && count == 1)
		pipes_poll(fds, timeout);
	if (!activate_on() || !hook_wait_begin(&span))
		return real.poll(fds, count, timeout);
	span.name = "poll";
	span.hook = HOOK_ID_poll;
	result = real.poll(fds, count, timeout);
	hook_wait_end(&span);
	return result;
}

HOOK_EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (likely(!(activate_on() | pipes_watch)))
		return real.poll(fds, count, timeout);
	return looked_poll(fds, count, timeout);
}
