/* SPDX-License-Identifier: Apache-2.0 */
/* io.c - wrappers of open, close and dup that need more than a row, and what all of them share. */
#include "hooks/hook.h"

#include <errno.h>
#include <stdarg.h>

#include "clock.h"

bool hook_open_begin(struct span *span)
{
	span->fd = -1;
	span->path = NULL;
	span->uncounted = false;
	return span_begin(span, DLPROF_CLASS_OPEN);
}

void hook_open_end(struct span *span, int fd, const char *path, int flags)
{
	enum fd_kind kind = FD_OTHER;

	if (unlikely(!activate_on()))
		return;
	/* EFAULT: the path is not ours to read either. */
	if (fd >= 0 || errno != EFAULT)
		kind = fd_kind_of_path(path);
	if ((flags & O_ACCMODE) == O_WRONLY || (flags & (O_DIRECTORY | O_PATH)))
		kind = FD_OTHER;
	/* What a vfork child opens would be counted as its parent's. */
	if (!fd_remember(fd, kind, path) || kind == FD_OTHER) {
		span_cancel(span);
		return;
	}
	span->path = path;
	span->fd = fd;
	span_end(span, 0, fd < 0);
}

/* Forgotten before the call: after it, the number may already be another thread's new file. */
bool hook_close_begin(struct span *span, int fd)
{
	enum fd_kind kind = fd_known(fd);

	if (kind == FD_UNKNOWN || !fd_forget(fd) || (kind != FD_DATA && kind != FD_NAMED))
		return false;
	span->fd = -1;
	span->path = NULL;
	span->uncounted = true;
	return span_begin(span, DLPROF_CLASS_OPEN);
}

bool hook_read_begin(struct span *span, int fd)
{
	enum fd_kind kind = fd_kind(fd);

	if (kind == FD_PIPE) {
		struct thread *thread = thread_self;

		if (thread && thread->life == thread_life && thread->receiving &&
		    !thread->receive_begin_ns)
			thread->receive_begin_ns = clock_now_ns();
	}
	if (kind != FD_DATA)
		return false;
	span->fd = fd;
	span->path = NULL;
	span->uncounted = false;
	return span_begin(span, DLPROF_CLASS_READ);
}

/*
 * The mode is there iff the flags ask for one. O_TMPFILE includes O_DIRECTORY's bit, hence the
 * comparison; forgetting it gives files random permissions.
 */
#define OPEN_MODE(flags, last)                                                                     \
	mode_t mode = 0;                                                                           \
                                                                                                   \
	if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) {                           \
		va_list values;                                                                    \
                                                                                                   \
		va_start(values, last);                                                            \
		mode = va_arg(values, mode_t);                                                     \
		va_end(values);                                                                    \
	}

#define DEFINE_OPEN(hook_name, params, ...)                                                        \
	HOOK_EXPORT int hook_name params                                                           \
	{                                                                                          \
		struct span span;                                                                  \
		int result;                                                                        \
		OPEN_MODE(flags, flags)                                                            \
                                                                                                   \
		if (likely(!activate_on()) || !hook_open_begin(&span))                             \
			return real.hook_name(__VA_ARGS__, mode);                                  \
		span.name = #hook_name;                                                            \
		span.hook = HOOK_ID_##hook_name;                                                   \
		result = real.hook_name(__VA_ARGS__, mode);                                        \
		hook_open_end(&span, result, path, flags);                                         \
		return result;                                                                     \
	}

int __open(const char *path, int flags, ...);
int __open64(const char *path, int flags, ...);
DEFINE_OPEN(open, (const char *path, int flags, ...), path, flags)
DEFINE_OPEN(open64, (const char *path, int flags, ...), path, flags)
DEFINE_OPEN(__open, (const char *path, int flags, ...), path, flags)
DEFINE_OPEN(__open64, (const char *path, int flags, ...), path, flags)
DEFINE_OPEN(openat, (int folder, const char *path, int flags, ...), folder, path, flags)
DEFINE_OPEN(openat64, (int folder, const char *path, int flags, ...), folder, path, flags)

HOOK_EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	/* CLOSE_RANGE_CLOEXEC only marks them: they stay what they are. */
	if (unlikely(activate_on()) && !(flags & CLOSE_RANGE_CLOEXEC))
		fd_forget_range(first, last);
	return real.close_range(first, last, flags);
}

HOOK_EXPORT void closefrom(int first)
{
	if (unlikely(activate_on()))
		fd_forget_range(first < 0 ? 0 : (unsigned int)first, ~0U);
	real.closefrom(first);
}

HOOK_EXPORT int dup2(int fd, int target)
{
	if (unlikely(activate_on()) && fd != target)
		fd_forget(target);
	return real.dup2(fd, target);
}

int __dup2(int fd, int target);
HOOK_EXPORT int __dup2(int fd, int target)
{
	if (unlikely(activate_on()) && fd != target)
		fd_forget(target);
	return real.__dup2(fd, target);
}

HOOK_EXPORT int dup3(int fd, int target, int flags)
{
	if (unlikely(activate_on()) && fd != target)
		fd_forget(target);
	return real.dup3(fd, target, flags);
}
