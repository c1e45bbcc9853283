/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook.h - what wrappers of libc need: functions to call before the real call, and after it.
 *
 * A wrapper never changes errno or a result. The real call may never return.
 */
#pragma once

/* C99 turns fscanf into __isoc99_fscanf; undo that, as both are wrapped. */
#include <features.h>
#undef __GLIBC_USE_DEPRECATED_SCANF
#define __GLIBC_USE_DEPRECATED_SCANF 1

#include <aio.h>
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "record/activate.h"
#include "record/fd.h"
#include "record/span.h"
#include "record/waits.h"

#ifdef _FILE_OFFSET_BITS
#error "_FILE_OFFSET_BITS turns open into open64: the wrong names would be exported"
#endif

/* aarch64 lacks the system calls below; 0: the function is looked up. */
#ifndef SYS_open
#define SYS_open   0
#define SYS_creat  0
#define SYS_dup2   0
#define SYS_access 0
#endif

/* Optimised stdio defines the names below as macros. */
#undef fread_unlocked
#undef fgets_unlocked

/* Unlike fileno(), this sets no errno on a memory stream. `file` may be NULL. */
#define FILE_FD(file) ((file) ? (file)->_fileno : -1)

#define HOOK_EXPORT __attribute__((visibility("default")))

/* Declares `value`, the variadic argument behind `last`. If it was not passed, it is garbage. */
#define HOOK_ARGUMENT(type, value, last)                                                           \
	va_list values;                                                                            \
	type value;                                                                                \
                                                                                                   \
	va_start(values, last);                                                                    \
	value = va_arg(values, type);                                                              \
	va_end(values)

struct real {
#define HOOK(family, nr, type, name, params, args) type(*name) params;
#define HOOK_BY_HAND(nr, type, name, params, args) type(*name) params;
#define HOOK_VARIADIC				   HOOK_BY_HAND
#include "hooks/hooks.def"
};

extern HIDDEN struct real real;

/* Looks up the real functions. Called by the constructor, or by a wrapper that runs before it. */
void real_resolve(void);

/* Makes kill() call `ends` before the process kills itself by a signal, if has_end() is true. */
void hook_process(bool (*has_end)(void), void (*ends)(void));

/* Returns false on musl, whose structs differ. */
bool real_is_glibc(void);

/* The raw functions bypass libc. Wrappers that run before the constructor use them. */
long hook_syscall_raw(long number, ...);
pid_t hook_vfork_raw(void);
long hook_syscall_failed(long result);
long hook_syscall_read(long number, long a, long b, long c, long d, long e, long f);

/* If a ..._begin() returns true, its ..._end() must be called. */
bool hook_open_begin(struct span *span);
bool hook_close_begin(struct span *span, int fd);
bool hook_read_begin(struct span *span, int fd);
void hook_read_end(struct span *span, int fd, ssize_t result);

/* Begin a call about one asynchronous read, or about a list whose first data file counts. */
bool hook_aio_begin(struct span *span, int fd);
bool hook_aio_list_begin(struct span *span, const struct aiocb *const list[], int count);
bool hook_aio_is_read(const struct aiocb *control);

/* Begin a read or write of a pipe or the like. It counts as a wait, and only within loads. */
bool hook_pipe_begin(struct span *span, int fd);
bool hook_write_begin(struct span *span, int fd);

void hook_open_end(struct span *span, int fd, const char *path, int flags);
void hook_handle_end(struct span *span, int fd);

/* Begin and end a call like stat(). Only the end decides whether it asked about a data file. */
bool hook_ask_begin(struct span *span);
bool hook_ask_fd_begin(struct span *span, int fd);
void hook_ask_end(struct span *span, const char *path, bool failed);

/* Begins a wait in a load, such as poll(). For waits without a time limit: hook_join_begin(). */
static inline bool hook_wait_begin(struct span *span)
{
	span->own_ns = 0;
	return thread_loading() && span_begin_in_load(span, DLPROF_CLASS_WAIT);
}

/*
 * Begins a wait without a time limit. Within a decoder, which waits for its threads, the wait
 * counts as decoding. A wait with a limit does not, as the interpreter waits for its lock with one.
 */
static inline bool hook_join_begin(struct span *span)
{
	const struct thread *thread = thread_loading();

	if (!thread || thread->boundary_address ||
	    (thread->frame->decoder && thread->frame->address > (uintptr_t)span))
		return false;
	span->own_ns = 0;
	return span_begin_in_load(span, DLPROF_CLASS_WAIT);
}

/* Begins a call about memory. Returns false if the memory is no mapping of a data file. */
bool hook_map_begin(struct span *span, const void *address, size_t size);

/* Returns the path of the mapped data file, "" if there are several, NULL if none is mapped. */
const char *hook_mapped_file(void);

/* End a wait, and find out what it was for (wait.c). These functions do not change errno. */
void hook_wait_end(struct span *span, enum wait_kind kind);
void hook_wait_fd_end(struct span *span, int fd, uint64_t bytes);
void hook_write_end(struct span *span, int fd, uint64_t bytes);
void hook_poll_end(struct span *span, const struct pollfd *fds, nfds_t count, int result);
void hook_select_end(struct span *span, int count, const fd_set *const sets[3], int result);
void hook_epoll_end(struct span *span, const struct epoll_event *events, int result);
void hook_file_lock_end(struct span *span, int fd, bool failed);

/* Returns a wait's kind. Call this before the wait: the semaphore may be gone afterwards. */
enum wait_kind hook_semaphore_kind(const sem_t *semaphore);

/* A stream's state before a call, to tell the bytes that the kernel delivered. */
struct hook_stream {
	FILE *file;
	const char *at;
	const char *end;
	off64_t offset;		/* offset of the descriptor as stdio knows it; -1: unknown */
	size_t buffered_bytes;	/* bytes in the buffer that the program has not taken */
};

bool hook_stream_begin(struct span *span, struct hook_stream *stream, FILE *file);

/* Return the bytes that the kernel delivered in a call, an fgets(), a seek or a scan. */
uint64_t hook_stream_bytes(const struct hook_stream *stream, size_t taken_bytes);
uint64_t hook_stream_line_bytes(const struct hook_stream *stream, const char *line, int size);
uint64_t hook_stream_seek_bytes(const struct hook_stream *stream);
uint64_t hook_stream_scan_bytes(const struct hook_stream *stream);
