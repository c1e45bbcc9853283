/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook.h - what a wrapper of libc needs.
 *
 * A wrapper makes the real call. If the process records, it also calls a begin function before and
 * an end function after. It never changes errno or a result, and holds nothing across the real
 * call, which may never return.
 */
#pragma once

/* C99 turns fscanf into __isoc99_fscanf; undo that, as both names are wrapped. */
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

/* System calls that aarch64 lacks. 0 means: look up the function. */
#ifndef SYS_open
#define SYS_open   0
#define SYS_creat  0
#define SYS_dup2   0
#define SYS_access 0
#endif

/* Optimised stdio defines these as macros. */
#undef fread_unlocked
#undef fgets_unlocked

/*
 * Reads the descriptor from stdio's struct, since fileno() would set errno on a memory stream.
 * glibc accepts a null pointer if it has nothing to do, as in fread() of 0 bytes.
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

/* Looks up all real functions; called by the constructor, or by a wrapper that runs before it. */
void real_resolve(void);

/*
 * Follows every fork() of the process; called once, by the constructor. If the process kills itself
 * by a signal, which runs no destructor, `ends` is called first, provided that `has_end` says that
 * there is something to finish.
 */
void hook_process(bool (*has_end)(void), void (*ends)(void));

/* Returns false on musl, whose structs differ: only wrappers that just call through work there. */
bool real_is_glibc(void);

/* Functions of syscall.S. The raw ones bypass libc, for wrappers called before the constructor. */
long hook_syscall_raw(long number, ...);
pid_t hook_vfork_raw(void);
long hook_syscall_failed(long result);
long hook_syscall_read(long number, long a, long b, long c, long d, long e, long f);

/* Each hook_*_begin() returns true if the call is recorded; then its end must be called. */
bool hook_open_begin(struct span *span);
bool hook_close_begin(struct span *span, int fd);
bool hook_read_begin(struct span *span, int fd);

/* Begins a read from a pipe or socket, which counts as a wait, and only within a load. */
bool hook_pipe_begin(struct span *span, int fd);

/* Ends an open; path and flags decide whether a data file was opened. */
void hook_open_end(struct span *span, int fd, const char *path, int flags);
void hook_handle_end(struct span *span, int fd);

/*
 * hook_ask_begin() and hook_ask_end() time a call that asks about a file, such as stat(). Whether
 * that is a data file is decided after the call, since the path may be unreadable before it.
 */
bool hook_ask_begin(struct span *span);
bool hook_ask_fd_begin(struct span *span, int fd);
void hook_ask_end(struct span *span, const char *path, bool failed);

/*
 * Begins a sleep for something other than data, which counts in a load only. All polls and
 * semaphore waits pass through the two functions below, so other modules hook in here.
 */
static inline bool hook_wait_begin(struct span *span)
{
	span->own_ns = 0;
	return thread_loading() && span_begin_in_load(span, DLPROF_CLASS_WAIT);
}

/*
 * Begins a wait, without a time limit, for another thread. If a decoder waits for its own threads,
 * that is decoding. Waits with a limit never count: the interpreter may be waiting for its lock.
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

/* wait.c: end a wait and find out what it was for. They do not change errno. */
void hook_wait_end(struct span *span, enum wait_kind kind);
void hook_wait_fd_end(struct span *span, int fd, uint64_t bytes);
void hook_poll_end(struct span *span, const struct pollfd *fds, nfds_t count, int result);
void hook_select_end(struct span *span, int count, const fd_set *const sets[3], int result);
void hook_epoll_end(struct span *span, const struct epoll_event *events, int result);
void hook_file_lock_end(struct span *span, int fd);

/* Returns the kind of a wait for a semaphore, before the wait: it may be gone afterwards. */
enum wait_kind hook_semaphore_kind(const sem_t *semaphore);

/* Ends a read that hook_read_begin() or hook_pipe_begin() began. */
static inline void hook_read_end(struct span *span, int fd, ssize_t result)
{
	if (unlikely(span->class == DLPROF_CLASS_WAIT))
		hook_wait_fd_end(span, fd, result > 0 ? (uint64_t)result : 0);
	else
		span_end(span, result > 0 ? (uint64_t)result : 0, result < 0);
}

/* A stream before a call, to find out how many bytes the call made the kernel deliver. */
struct hook_stream {
	FILE *file;
	const char *at;
	const char *end;
	off64_t offset;		/* the descriptor's offset as stdio knows it; -1: unknown */
	size_t buffered_bytes;	/* bytes in the buffer that the program has not taken yet */
};

bool hook_stream_begin(struct span *span, struct hook_stream *stream, FILE *file);

/*
 * Return the bytes that the kernel delivered during a call: one that took `taken_bytes`, an
 * fgets(), a seek, a scan.
 */
uint64_t hook_stream_bytes(const struct hook_stream *stream, size_t taken_bytes);
uint64_t hook_stream_line_bytes(const struct hook_stream *stream, const char *line, int size);
uint64_t hook_stream_seek_bytes(const struct hook_stream *stream);
uint64_t hook_stream_scan_bytes(const struct hook_stream *stream);
