/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd.h - what kind of thing a file descriptor is, so that only data counts as data.
 *
 * Tensor transport (pipes, sockets, shared memory), Python's own modules and the system's files
 * are not data. The table is private memory. What it does not know it asks the kernel once. A vfork
 * child shares it: forgetting checks the pid.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sys.h"

enum fd_kind {
	FD_UNKNOWN,
	FD_NAMED,	/* opened by a data-like path; the kernel was not asked yet */
	FD_DATA,
	FD_PIPE,
	FD_SOCKET,
	FD_OTHER,
};

/* By the path alone: FD_NAMED or FD_OTHER. */
enum fd_kind fd_kind_of_path(const char *path);

/*
 * `fd` was opened as a file of this path; NULL: the kernel knows it. Negative fd, or a vfork child
 * that would overwrite what its parent has: nothing happens, and false for the child.
 */
bool fd_remember(int fd, enum fd_kind kind, const char *path);

/* `copy` is a duplicate of `fd`. Negative, or in a vfork child: nothing happens. */
void fd_copy(int fd, int copy);

/*
 * `fd`, or all from `first` to `last`, are closed or mean something else from now on. False, and
 * nothing happens, in a vfork child.
 */
bool fd_forget(int fd);
void fd_forget_range(unsigned int first, unsigned int last);

/*
 * A forked child begins to record: nobody saw what it has closed and opened until now, so the
 * kernel is asked about what its parent knew.
 */
void fd_begin(void);

/* What the table holds; FD_UNKNOWN where it holds nothing. */
enum fd_kind fd_known(int fd);

/*
 * The host asked the kernel what `fd` is, so that we need not: most readers do, before they read.
 * FD_UNKNOWN: that was known, or need not be. Else what it is.
 */
enum fd_kind fd_learn(int fd, mode_t mode);

#define FD_PATH_COUNT 512	/* a power of two */
#define FD_PATH_BYTES 256

/* See fd.c; only the version is read elsewhere. */
struct fd_open_path {
	_Atomic uint32_t version;
	int fd;
	char text[FD_PATH_BYTES];
};

extern HIDDEN struct fd_open_path fd_paths[FD_PATH_COUNT];

/* Changes when the descriptor comes to mean something else: what was a data file then is still. */
static inline const _Atomic uint32_t *fd_path_version_at(int fd)
{
	return &fd_paths[(unsigned int)fd % FD_PATH_COUNT].version;
}

static inline uint32_t fd_path_version(int fd)
{
	return atomic_load_explicit(fd_path_version_at(fd), memory_order_acquire);
}

/* The end of the path, or an empty string; its version, 0 if there is none. */
uint32_t fd_path(int fd, char path[FD_PATH_BYTES]);

/* The first FD_PAGE descriptors; private to fd.c and fd_kind(). */
#define FD_PAGE 4096
extern HIDDEN _Atomic uint8_t fd_first_page[FD_PAGE];

enum fd_kind fd_find_kind(int fd);

/*
 * FD_DATA, FD_PIPE, FD_SOCKET or FD_OTHER; that too in a vfork child, of what its parent does not
 * know.
 */
static inline enum fd_kind fd_kind(int fd)
{
	if (likely((unsigned int)fd < FD_PAGE)) {
		enum fd_kind kind = atomic_load_explicit(&fd_first_page[fd], memory_order_relaxed);

		if (likely(kind > FD_NAMED))
			return kind;
	}
	return fd_find_kind(fd);
}
