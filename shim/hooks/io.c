/* SPDX-License-Identifier: Apache-2.0 */
/* io.c - wrappers on descriptors that need more than a row of hooks.def, and helpers for others. */
#include "hooks/hook.h"

#include <errno.h>

#include "base/clock.h"
#include "base/written.h"
#include "record/segment.h"
#include "record/tally.h"

/* Begins an open without a slot, which takes disk space: slots are for threads that open data. */
OFTEN bool hook_open_begin(struct span *span)
{
	span->fd = -1;
	span->path = NULL;
	span->uncounted = false;
	if (thread_known())
		return span_begin(span, DLPROF_CLASS_OPEN);
	span->thread = NULL;
	span->begin_ticks = clock_ticks();
	return true;
}

/* Takes the slot for a thread's first data file. */
static RARELY bool begin_now(struct span *span)
{
	const uint64_t begin_ticks = span->begin_ticks;

	if (!span_begin(span, DLPROF_CLASS_OPEN))
		return false;
	span->begin_ticks = begin_ticks;
	return true;
}

/* Returns false if the kernel has not read the path, which may then be an invalid pointer. */
static OFTEN bool is_path_read(bool failed)
{
	if (!failed)
		return true;
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
	case EACCES:
	case EMFILE:
	case ENFILE:
	case EIO:
	case ESTALE:
	case EINTR:
		return true;
	default:
		return false;
	}
}

static inline void look_at_opened(int fd, const char *path, int flags)
{
	if (unlikely(written_is_watched) && fd >= 0)
		written_opened(fd, path, flags);
}

OFTEN void hook_open_end(struct span *span, int fd, const char *path, int flags)
{
	const uint64_t end_ticks = clock_ticks();
	const bool is_new = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
	enum fd_kind kind = FD_OTHER;

	look_at_opened(fd, path, flags);
	if (unlikely(!activate_on()))
		return;
	/* Some programs use a file as a lock: whoever makes the file holds the lock. */
	if (unlikely(is_new) && (fd >= 0 || errno == EEXIST) && thread_loading() &&
	    segment_is_own())
		waits_try(thread_loading(), path, fd < 0);
	if (is_path_read(fd < 0))
		kind = fd_kind_of_path(path);
	if ((flags & O_ACCMODE) == O_WRONLY || (flags & (O_DIRECTORY | O_PATH)))
		kind = FD_OTHER;
	/* A file that a vfork child opens would count for its parent. */
	if (!fd_remember(fd, kind, path) || kind == FD_OTHER) {
		span_cancel(span);
		return;
	}
	/* A file that this call creates is empty, so there is nothing to load. */
	span->uncounted = is_new;
	if (unlikely(!span->thread) && (span->uncounted || !begin_now(span)))
		return;
	span->path = path;
	span->fd = fd;
	span_end_at(span, 0, fd < 0, end_ticks);
}

/* An open by a handle has no path, so fstat() tells the kind of file. */
void hook_handle_end(struct span *span, int fd)
{
	const uint64_t end_ticks = clock_ticks();

	if (unlikely(!activate_on()))
		return;
	if (fd < 0 || !fd_forget(fd) || fd_kind(fd) != FD_DATA) {
		span_cancel(span);
		return;
	}
	if (unlikely(!span->thread) && !begin_now(span))
		return;
	span->fd = fd;
	span_end_at(span, 0, false, end_ticks);
}

bool hook_ask_begin(struct span *span)
{
	return thread_loading() && span_begin_in_load(span, DLPROF_CLASS_OPEN);
}

OFTEN bool hook_ask_fd_begin(struct span *span, int fd)
{
	enum fd_kind kind;

	if (likely(!thread_loading()))
		return false;
	kind = fd_known(fd);
	return (kind == FD_DATA || kind == FD_NAMED) && span_begin_in_load(span, DLPROF_CLASS_OPEN);
}

void hook_ask_end(struct span *span, const char *path, bool failed)
{
	const uint64_t end_ticks = clock_ticks();

	if (unlikely(!activate_on()))
		return;
	if (!path || !is_path_read(failed) || fd_kind_of_path(path) == FD_OTHER)
		span_cancel(span);
	else
		span_end_at(span, 0, failed, end_ticks);
}

/* Forget the descriptor first: after the call it may be another thread's new file. */
OFTEN bool hook_close_begin(struct span *span, int fd)
{
	enum fd_kind kind = fd_known(fd);

	if (kind == FD_UNKNOWN || !fd_forget(fd) || (kind != FD_DATA && kind != FD_NAMED) ||
	    !thread_known())
		return false;
	span->fd = -1;
	span->path = NULL;
	span->uncounted = true;
	return span_begin(span, DLPROF_CLASS_OPEN);
}

OFTEN bool hook_read_begin(struct span *span, int fd)
{
	enum fd_kind kind = fd_kind(fd);

	if (kind == FD_PIPE) {
		struct thread *thread = thread_known();

		if (thread && thread->receiving && !thread->receive_begin_ns)
			thread->receive_begin_ns = clock_now_ns();
	}
	if (kind != FD_DATA)
		return false;
	span->fd = fd;
	span->path = NULL;
	span->uncounted = false;
	if (!span_begin(span, DLPROF_CLASS_READ))
		return false;
	tally_quicken(span->thread, fd);
	return true;
}

OFTEN void hook_read_end(struct span *span, int fd, ssize_t result)
{
	if (unlikely(span->class == DLPROF_CLASS_WAIT))
		hook_wait_fd_end(span, fd, result > 0 ? (uint64_t)result : 0);
	else
		span_end(span, result > 0 ? (uint64_t)result : 0, result < 0);
}

/* Submitting a read, and waiting for it, does not count: the operation counts when collected. */
bool hook_aio_begin(struct span *span, int fd)
{
	if (!hook_read_begin(span, fd))
		return false;
	span->uncounted = true;
	return true;
}

/* LIO_READ64 is LIO_READ with an eighth bit, which this mask removes. */
#define OPCODE_MASK 127

bool hook_aio_is_read(const struct aiocb *control)
{
	return control && (control->aio_lio_opcode & OPCODE_MASK) == LIO_READ &&
	       fd_kind(control->aio_fildes) == FD_DATA;
}

bool hook_aio_list_begin(struct span *span, const struct aiocb *const list[], int count)
{
	for (int i = 0; i < count; i++)
		if (hook_aio_is_read(list[i]))
			return hook_aio_begin(span, list[i]->aio_fildes);
	return false;
}

bool hook_pipe_begin(struct span *span, int fd)
{
	enum fd_kind kind;

	if (likely(!thread_loading()))
		return false;
	kind = fd_kind(fd);
	return (kind == FD_PIPE || kind == FD_SOCKET) && hook_wait_begin(span);
}

bool hook_write_begin(struct span *span, int fd)
{
	if (likely(!thread_loading()))
		return false;
	return fd_kind(fd) == FD_DEVICE ? hook_wait_begin(span) : hook_pipe_begin(span, fd);
}

/* O_TMPFILE contains O_DIRECTORY's bit, so all its bits are compared. */
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
	HOOK_EXPORT OFTEN int hook_name params                                                     \
	{                                                                                          \
		struct span span;                                                                  \
		int result;                                                                        \
		OPEN_MODE(flags, flags)                                                            \
                                                                                                   \
		if (likely(!activate_on()) || !hook_open_begin(&span)) {                           \
			result = real.hook_name(__VA_ARGS__, mode);                                \
			look_at_opened(result, path, flags);                                       \
			return result;                                                             \
		}                                                                                  \
		span.name = #hook_name;                                                            \
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
	/* CLOSE_RANGE_CLOEXEC only marks descriptors, which stay open. */
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

HOOK_EXPORT int dup(int fd)
{
	int result = real.dup(fd);

	if (unlikely(activate_on()))
		fd_copy(fd, result);
	return result;
}

int __dup2(int fd, int target);

/* The call closes its target, so the target is forgotten first (hook_close_begin()). */
#define DEFINE_DUP(hook_name, params, ...)                                                         \
	HOOK_EXPORT int hook_name params                                                           \
	{                                                                                          \
		int result;                                                                        \
                                                                                                   \
		if (likely(!activate_on()) || fd == target)                                        \
			return real.hook_name(__VA_ARGS__);                                        \
		fd_forget(target);                                                                 \
		result = real.hook_name(__VA_ARGS__);                                              \
		fd_copy(fd, result);                                                               \
		return result;                                                                     \
	}
DEFINE_DUP(dup2, (int fd, int target), fd, target)
DEFINE_DUP(__dup2, (int fd, int target), fd, target)
DEFINE_DUP(dup3, (int fd, int target, int flags), fd, target, flags)

/* `command` decides whether there is a third argument, which a pointer can hold. */
#define DEFINE_FCNTL(hook_name)                                                                    \
	HOOK_EXPORT int hook_name(int fd, int command, ...)                                        \
	{                                                                                          \
		HOOK_ARGUMENT(void *, value, command);                                             \
		struct span span;                                                                  \
		bool is_wait;                                                                      \
		int result;                                                                        \
                                                                                                   \
		is_wait = (command == F_SETLK || command == F_SETLKW ||                            \
			   command == F_OFD_SETLK || command == F_OFD_SETLKW) &&                   \
			  activate_on() && hook_wait_begin(&span);                                 \
		span.name = #hook_name;                                                            \
		result = real.hook_name(fd, command, value);                                       \
		if (is_wait)                                                                       \
			hook_file_lock_end(&span, fd, result < 0);                                 \
		if (unlikely(activate_on()) &&                                                     \
		    (command == F_DUPFD || command == F_DUPFD_CLOEXEC))                            \
			fd_copy(fd, result);                                                       \
		return result;                                                                     \
	}
int __fcntl(int fd, int command, ...);
DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)
DEFINE_FCNTL(__fcntl)

long hook_syscall_read(long number, long a, long b, long c, long d, long e, long f)
{
	struct span span;
	long result;

	if (!hook_read_begin(&span, (int)a))
		return real.syscall(number, a, b, c, d, e, f);
	span.name = "syscall";
	result = real.syscall(number, a, b, c, d, e, f);
	span_end(&span, result > 0 ? (uint64_t)result : 0, result < 0);
	return result;
}
