/* SPDX-License-Identifier: Apache-2.0 */
/* regular.c - the wrappers that a row of hooks.def describes completely. */
#include "hooks/hook.h"

#include <string.h>

#include "record/quick.h"

/* BEGIN_x and END_x can use the wrapper's parameters, `span` and `result`. */
#define BEGIN_OPEN	 hook_open_begin(&span)
#define END_OPEN	 hook_open_end(&span, result, path, flags)
#define BEGIN_CREAT	 hook_open_begin(&span)
#define END_CREAT	 hook_open_end(&span, result, path, O_WRONLY)
#define BEGIN_CLOSE	 hook_close_begin(&span, fd)
#define END_CLOSE	 span_end(&span, 0, result < 0)

#define BEGIN_READ	 (hook_read_begin(&span, fd) || hook_pipe_begin(&span, fd))
#define END_READ	 hook_read_end(&span, fd, (ssize_t)result)
#define BEGIN_ADVISE	 hook_read_begin(&span, fd)
#define END_ADVISE	 span_end(&span, 0, result != 0)

/* `struct aiocb64` is `struct aiocb` under another name, as all offsets have 64 bits. */
#define BEGIN_AIO_READ	 hook_aio_begin(&span, control->aio_fildes)
#define END_AIO_READ	 span_end(&span, 0, result < 0)
#define BEGIN_AIO_RETURN                                                                           \
	(hook_aio_is_read((const struct aiocb *)control) &&                                        \
	 hook_read_begin(&span, control->aio_fildes))
#define END_AIO_RETURN	 span_end(&span, result > 0 ? (uint64_t)result : 0, result < 0)
#define BEGIN_AIO_SUSPEND                                                                          \
	hook_aio_list_begin(&span, (const struct aiocb *const *)list, count)
#define END_AIO_SUSPEND	 span_end(&span, 0, false)
#define BEGIN_AIO_LIST	 BEGIN_AIO_SUSPEND
#define END_AIO_LIST	 END_AIO_READ

#define BEGIN_MAP_ADVISE hook_map_begin(&span, address, size)
#define END_MAP_ADVISE	 span_end(&span, 0, result != 0)

#define BEGIN_FOPEN	 hook_open_begin(&span)
#define END_FOPEN                                                                                  \
	hook_open_end(&span, result ? FILE_FD(result) : -1, path, fopen_flags(mode))
#define BEGIN_FREOPEN	 (fd_forget(FILE_FD(file)), hook_open_begin(&span))
#define END_FREOPEN                                                                                \
	(path ? hook_open_end(&span, result ? FILE_FD(result) : -1, path, fopen_flags(mode))      \
	      : span_cancel(&span))
#define BEGIN_FCLOSE	 hook_close_begin(&span, FILE_FD(file))
#define END_FCLOSE	 span_end(&span, 0, result != 0)
/* In these calls, libc closes without our close(). A DIR begins with its descriptor. */
#define BEGIN_PCLOSE	 (fd_forget(FILE_FD(file)), hook_wait_begin(&span))
#define END_PCLOSE	 hook_wait_end(&span, WAIT_PROGRAM)
#define BEGIN_CLOSEDIR	 (fd_forget(folder ? *(const int *)folder : -1), false)
#define END_CLOSEDIR	 (void)span
#define BEGIN_FILE	 hook_stream_begin(&span, &stream, file)
#define END_FILE(bytes)	 span_end(&span, bytes, false)
#define BEGIN_FGETS	 BEGIN_FILE
#define END_FGETS	 END_FILE(hook_stream_line_bytes(&stream, result, size))
#define BEGIN_GETLINE	 BEGIN_FILE
#define END_GETLINE	 END_FILE(hook_stream_bytes(&stream, result > 0 ? (size_t)result : 0))
#define BEGIN_FSEEK	 BEGIN_FILE
#define END_FSEEK	 span_end(&span, hook_stream_seek_bytes(&stream), result != 0)
#define BEGIN_UFLOW	 BEGIN_FILE
#define END_UFLOW	 END_FILE(hook_stream_bytes(&stream, result == EOF ? 0 : 1))
#define BEGIN_UNDERFLOW	 BEGIN_FILE
#define END_UNDERFLOW	 END_FILE(hook_stream_bytes(&stream, 0))
#define BEGIN_SCAN	 BEGIN_FILE
#define END_SCAN	 END_FILE(hook_stream_scan_bytes(&stream))

#define BEGIN_HANDLE	 hook_open_begin(&span)
#define END_HANDLE	 hook_handle_end(&span, result)
#define BEGIN_STAT	 hook_ask_begin(&span)
#define END_STAT	 hook_ask_end(&span, path, result < 0)
#define BEGIN_OPENDIR	 hook_ask_begin(&span)
#define END_OPENDIR	 hook_ask_end(&span, path, !result)
#define BEGIN_SCANDIR	 hook_ask_begin(&span)
#define END_SCANDIR	 hook_ask_end(&span, path, result < 0)
#define BEGIN_READDIR	 hook_ask_begin(&span)
#define END_READDIR	 span_end(&span, 0, false)

/* Calls that wait. Those of families JOIN_x have no time limit. */
#define BEGIN_SLEEP	 hook_wait_begin(&span)
#define END_SLEEP	 hook_wait_end(&span, WAIT_ASLEEP)
#define BEGIN_POLL	 hook_wait_begin(&span)
#define END_POLL	 hook_poll_end(&span, fds, count, result)
#define BEGIN_SELECT	 hook_wait_begin(&span)
#define END_SELECT                                                                                 \
	hook_select_end(&span, count, (const fd_set *const[]){reads, writes, others}, result)
#define BEGIN_EPOLL	 hook_wait_begin(&span)
#define END_EPOLL	 hook_epoll_end(&span, events, result)
#define END_RECEIVE	 hook_wait_fd_end(&span, fd, result > 0 ? (uint64_t)result : 0)
#define BEGIN_RECEIVE_MANY hook_wait_begin(&span)
#define END_RECEIVE_MANY hook_wait_fd_end(&span, fd, 0)
#define BEGIN_WRITE	 hook_write_begin(&span, fd)
#define END_WRITE	 hook_write_end(&span, fd, result > 0 ? (uint64_t)result : 0)
#define BEGIN_SEMAPHORE	 (hook_wait_begin(&span) && (kind = hook_semaphore_kind(semaphore), true))
#define END_SEMAPHORE	 hook_wait_end(&span, kind)
#define BEGIN_CONDITION	 hook_wait_begin(&span)
#define END_CONDITION	 hook_wait_end(&span, WAIT_THREAD)
#define BEGIN_JOIN_SEMAPHORE                                                                       \
	(hook_join_begin(&span) && (kind = hook_semaphore_kind(semaphore), true))
#define END_JOIN_SEMAPHORE END_SEMAPHORE
#define BEGIN_JOIN	 hook_join_begin(&span)
#define END_JOIN	 END_CONDITION
#define BEGIN_FILE_LOCK	 hook_wait_begin(&span)
#define END_FILE_LOCK	 hook_file_lock_end(&span, fd, result < 0)
#define BEGIN_CHILD	 hook_wait_begin(&span)
#define END_CHILD	 hook_wait_end(&span, WAIT_PROGRAM)
#define BEGIN_SYNC	 hook_wait_begin(&span)
#define END_SYNC	 hook_wait_end(&span, WAIT_SYNC)

/* Returns flags for open() that say no more than whether the mode reads. */
static int fopen_flags(const char *mode)
{
	return mode[0] == 'r' || strchr(mode, '+') ? O_RDONLY : O_WRONLY;
}

#define HOOK_ENTRY(type, hook_name, params, args, recorded)                                        \
	HOOK_EXPORT OFTEN type hook_name params                                                    \
	{                                                                                          \
		return likely(!activate_on()) ? real.hook_name args : recorded##_##hook_name args; \
	}
#define HOOK_USUAL(family, type, hook_name, params, args)                                          \
	static __attribute__((noinline)) type recorded_##hook_name params                          \
	{                                                                                          \
		struct hook_stream stream __attribute__((unused));                                 \
		enum wait_kind kind __attribute__((unused));                                       \
		struct span span;                                                                  \
		type result;                                                                       \
                                                                                                   \
		if (!BEGIN_##family)                                                               \
			return real.hook_name args;                                                \
		span.name = #hook_name;                                                            \
		result = real.hook_name args;                                                      \
		END_##family;                                                                      \
		return result;                                                                     \
	}

/* A load may wait for what another thread receives, so those bytes count, too. */
#define HOOK_RECEIVE(family, type, hook_name, params, args)                                        \
	static __attribute__((noinline)) type recorded_##hook_name params                          \
	{                                                                                          \
		struct span span;                                                                  \
		const bool timed = hook_wait_begin(&span);                                         \
		type result;                                                                       \
                                                                                                   \
		span.name = #hook_name;                                                            \
		result = real.hook_name args;                                                      \
		if (timed)                                                                         \
			END_##family;                                                              \
		else if (result > 0)                                                               \
			waits_received((uint64_t)result);                                          \
		return result;                                                                     \
	}                                                                                          \
	HOOK_ENTRY(type, hook_name, params, args, recorded)

/* The slow path is a tail call, so that the quick path need not save the arguments. */
#define HOOK_QUICK(family, type, hook_name, params, args)                                          \
	HOOK_USUAL(family, type, hook_name, params, args)                                          \
	HOOK_EXPORT OFTEN type hook_name params                                                    \
	{                                                                                          \
		uint32_t life = activate_on();                                                     \
		struct quick quick;                                                                \
                                                                                                   \
		if (likely(!life))                                                                 \
			return real.hook_name args;                                                \
		if (unlikely(!quick_begin(&quick, life, fd)))                                      \
			return recorded_##hook_name args;                                          \
		return (type)quick_end(&quick, real.hook_name args, #hook_name);                   \
	}

/* Learns the kind of file from fstat(). `timed`: the thread whose span is open, or NULL. */
static inline void learn(struct thread *timed, int fd, mode_t mode)
{
	const enum fd_kind kind = fd_learn(fd, mode);

	if (kind == FD_DATA && timed)
		tally_quicken(timed, fd);
	else if (unlikely(kind > FD_DATA))
		tally_take_back(fd);
}

/* fstat() shows a descriptor's kind of file, which is learned outside loads, too (not timed). */
#define HOOK_FSTAT(family, type, hook_name, params, args)                                          \
	static OFTEN __attribute__((noinline)) type learned_##hook_name params                     \
	{                                                                                          \
		struct span span;                                                                  \
		bool timed = hook_ask_fd_begin(&span, fd);                                         \
		type result;                                                                       \
                                                                                                   \
		span.name = #hook_name;                                                            \
		result = real.hook_name args;                                                      \
		if (timed)                                                                         \
			span_end(&span, 0, result < 0);                                            \
		if (likely(result == 0))                                                           \
			learn(timed ? span.thread : NULL, fd, status->st_mode);                    \
		return result;                                                                     \
	}                                                                                          \
	HOOK_ENTRY(type, hook_name, params, args, learned)

#define HOOK_PLAIN(family, ...) HOOK_USUAL(family, __VA_ARGS__) HOOK_ENTRY(__VA_ARGS__, recorded)
#define HOOK_READ(family, ...)	HOOK_QUICK(family, __VA_ARGS__)
#define HOOK_CLOSE(family, ...) OFTEN HOOK_PLAIN(family, __VA_ARGS__)

/* HOOK() wraps family x with the macro in WAY_x or, if there is no WAY_x, with HOOK_PLAIN. */
#define WAY_READ , HOOK_READ
#define WAY_CLOSE , HOOK_CLOSE
#define WAY_FSTAT , HOOK_FSTAT
#define WAY_RECEIVE , HOOK_RECEIVE
#define SECOND(first, second, ...) second
#define WAY(...) SECOND(__VA_ARGS__, )
#define HOOK(family, nr, type, hook_name, params, args)                                            \
	WAY(WAY_##family, HOOK_PLAIN)(family, type, hook_name, params, args)
#define HOOK_BY_HAND(nr, type, hook_name, params, args)
#define HOOK_VARIADIC(nr, type, hook_name, params, args)
/* Declares functions that some libc headers lack. */
#define HOOK_DECLARE(type, name, params) type name params;
HOOK_DECLARE(int, __open_2, (const char *, int))
HOOK_DECLARE(int, __open64_2, (const char *, int))
HOOK_DECLARE(int, __openat_2, (int, const char *, int))
HOOK_DECLARE(int, __openat64_2, (int, const char *, int))
HOOK_DECLARE(int, __close, (int))
HOOK_DECLARE(ssize_t, __read, (int, void *, size_t))
HOOK_DECLARE(ssize_t, __read_chk, (int, void *, size_t, size_t))
HOOK_DECLARE(ssize_t, __write, (int, const void *, size_t))
HOOK_DECLARE(ssize_t, __pread64, (int, void *, size_t, off64_t))
HOOK_DECLARE(ssize_t, __pread_chk, (int, void *, size_t, off_t, size_t))
HOOK_DECLARE(ssize_t, __pread64_chk, (int, void *, size_t, off64_t, size_t))
HOOK_DECLARE(ssize_t, sendfile, (int, int, off_t *, size_t))
HOOK_DECLARE(ssize_t, sendfile64, (int, int, off64_t *, size_t))
HOOK_DECLARE(char *, __fgets_chk, (char *, size_t, int, FILE *))
HOOK_DECLARE(char *, __fgets_unlocked_chk, (char *, size_t, int, FILE *))
HOOK_DECLARE(int, __isoc99_vfscanf, (FILE *, const char *, va_list))
HOOK_DECLARE(int, __isoc23_vfscanf, (FILE *, const char *, va_list))
HOOK_DECLARE(int, __xstat, (int, const char *, struct stat *))
HOOK_DECLARE(int, __xstat64, (int, const char *, struct stat64 *))
HOOK_DECLARE(int, __lxstat, (int, const char *, struct stat *))
HOOK_DECLARE(int, __lxstat64, (int, const char *, struct stat64 *))
HOOK_DECLARE(int, __fxstat, (int, int, struct stat *))
HOOK_DECLARE(int, __fxstat64, (int, int, struct stat64 *))
HOOK_DECLARE(int, __fxstatat, (int, int, const char *, struct stat *, int))
HOOK_DECLARE(int, __fxstatat64, (int, int, const char *, struct stat64 *, int))
HOOK_DECLARE(int, flock, (int, int))
HOOK_DECLARE(int, lockf, (int, int, off_t))
HOOK_DECLARE(int, lockf64, (int, int, off64_t))
HOOK_DECLARE(int, __poll_chk, (struct pollfd *, nfds_t, int, size_t))
HOOK_DECLARE(int, __ppoll_chk,
	     (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t))
HOOK_DECLARE(ssize_t, __recv_chk, (int, void *, size_t, size_t, int))
HOOK_DECLARE(ssize_t, __recvfrom_chk,
	     (int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *))
#include "hooks/hooks.def"
