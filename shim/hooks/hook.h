/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook.h - what a wrapper of libc needs.
 *
 * A wrapper is: not recording? the real call. Else begin, the real call, end. It never changes
 * errno or a result, and holds nothing across the real call, which may never return.
 */
#pragma once

/* C99 turns fscanf into __isoc99_fscanf; both names are wrapped, each as itself. */
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
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/sys.h"
#include "record/activate.h"
#include "record/fd.h"
#include "record/span.h"
#include "record/waits.h"

#ifdef _FILE_OFFSET_BITS
#error "_FILE_OFFSET_BITS turns open into open64: the wrong names would be exported"
#endif

/* aarch64 has no such calls; 0 means: look the function up. */
#ifndef SYS_open
#define SYS_open   0
#define SYS_creat  0
#define SYS_dup2   0
#define SYS_access 0
#endif

/* Macros of optimised stdio. */
#undef fread_unlocked
#undef fgets_unlocked

/*
 * stdio keeps the descriptor in the struct; fileno() would set errno on a memory stream. glibc
 * takes a null pointer where there is nothing to do: fread() of 0 bytes.
 */
#define FILE_FD(file) ((file) ? (file)->_fileno : -1)

#define HOOK_EXPORT __attribute__((visibility("default")))

enum hook_id {
#define HOOK(family, nr, type, name, params, args) HOOK_ID_##name,
#define HOOK_BY_HAND(nr, type, name, params, args) HOOK_ID_##name,
#define HOOK_VARIADIC				   HOOK_BY_HAND
#include "hooks/hooks.def"
#undef HOOK
#undef HOOK_BY_HAND
#undef HOOK_VARIADIC
	HOOK_ID_MAX
};

/* The functions that the host would call without us. */
struct real {
#define HOOK(family, nr, type, name, params, args) type(*name) params;
#define HOOK_BY_HAND(nr, type, name, params, args) type(*name) params;
#define HOOK_VARIADIC				   HOOK_BY_HAND
#include "hooks/hooks.def"
#undef HOOK
#undef HOOK_BY_HAND
#undef HOOK_VARIADIC
};

extern HIDDEN struct real real;

/* Looks all of them up. Called by the constructor, or by a wrapper that is called before it. */
void real_resolve(void);

/*
 * From the constructor, once: to be told of every fork() of the process. `ends` is called before
 * the process ends itself by a signal, which runs no destructor, if `has_end` says that it has
 * anything to do.
 */
void hook_process(bool (*has_end)(void), void (*ends)(void));

/* False: the program runs on musl, whose structs are others. Only the bare calls go on then. */
bool real_is_glibc(void);

/* syscall.S. Raw: past the C library, for wrappers that are called before the constructor. */
long hook_syscall_raw(long number, ...);
pid_t hook_vfork_raw(void);
long hook_syscall_failed(long result);
long hook_syscall_read(long number, long a, long b, long c, long d, long e, long f);

/* Each hook_*_begin(): true if the call is to be recorded, and then an end must follow. */
bool hook_open_begin(struct span *span);
bool hook_close_begin(struct span *span, int fd);
bool hook_read_begin(struct span *span, int fd);

/* A read of a pipe or a socket in a load, where it is a wait. */
bool hook_pipe_begin(struct span *span, int fd);

/* The end of an open: decides by path and flags whether it was one of a data file. */
void hook_open_end(struct span *span, int fd, const char *path, int flags);
void hook_handle_end(struct span *span, int fd);

/*
 * A call about a file by its path. Whether it is a data file is decided after the call, since
 * before it the path may be unreadable.
 */
bool hook_ask_begin(struct span *span);
bool hook_ask_fd_begin(struct span *span, int fd);
void hook_ask_end(struct span *span, const char *path, bool failed);

/*
 * Sleeping for something other than data, counted in a load only. A second taker of poll() or of
 * the semaphores is called from these two: they see every one of them.
 */
static inline bool hook_wait_begin(struct span *span)
{
	span->own_ns = 0;
	return thread_loading() && span_begin_in_load(span, DLPROF_CLASS_WAIT);
}

/*
 * For another thread, without a limit. Within a decoder that is one of the decoder's own, and the
 * time is the decoder's, too. One with a limit may be the interpreter's for its lock: never.
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

/* wait.c: the ends of waits, by what says for what they were. Each leaves errno as it is. */
void hook_wait_end(struct span *span, enum wait_kind kind);
void hook_wait_fd_end(struct span *span, int fd, uint64_t bytes);
void hook_poll_end(struct span *span, const struct pollfd *fds, nfds_t count, int result);
void hook_select_end(struct span *span, int count, const fd_set *const sets[3], int result);
void hook_epoll_end(struct span *span, const struct epoll_event *events, int result);
void hook_file_lock_end(struct span *span, int fd);

/* What a wait for it is: asked before the wait, after which it may be gone. */
enum wait_kind hook_semaphore_kind(const sem_t *semaphore);

/* Of a read that hook_read_begin() or hook_pipe_begin() began. */
static inline void hook_read_end(struct span *span, int fd, ssize_t result)
{
	if (unlikely(span->class == DLPROF_CLASS_WAIT))
		hook_wait_fd_end(span, fd, result > 0 ? (uint64_t)result : 0);
	else
		span_end(span, result > 0 ? (uint64_t)result : 0, result < 0);
}

/* Where a stream stood before a call, to tell what the call made the kernel deliver. */
struct hook_stream {
	FILE *file;
	const char *at;
	const char *end;
	off64_t offset;		/* of the descriptor as stdio knows it, -1: it does not */
	size_t buffered_bytes;	/* delivered earlier, not taken yet */
};

bool hook_stream_begin(struct span *span, struct hook_stream *stream, FILE *file);

/* Bytes that came in while the program took that many; that fgets() left in `line`; by a seek. */
uint64_t hook_stream_bytes(const struct hook_stream *stream, size_t taken_bytes);
uint64_t hook_stream_line_bytes(const struct hook_stream *stream, const char *line, int size);
uint64_t hook_stream_seek_bytes(const struct hook_stream *stream);
uint64_t hook_stream_scan_bytes(const struct hook_stream *stream);
