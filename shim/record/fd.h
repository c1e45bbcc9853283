/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd.h - the kind of file behind a descriptor, so that only data files count as data.
 *
 * Pipes, sockets and shared memory that carry tensors, Python's modules and the system's files are
 * not data. The table is private memory; the kernel is asked once about a descriptor that is not in
 * it. A vfork child shares the table, so forgetting checks the pid.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sys.h"

enum fd_kind {
	FD_UNKNOWN,
	FD_NAMED,	/* the path may be that of data; the kernel was not asked yet */
	FD_DATA,
	FD_PIPE,
	FD_SOCKET,
	FD_OTHER,
};

/* Returns what the path alone tells: FD_NAMED or FD_OTHER. */
enum fd_kind fd_kind_of_path(const char *path);

/*
 * Notes that `fd` was opened as the file `path`; if `path` is NULL, the kernel knows it. Does
 * nothing for a negative fd. In a vfork child it does nothing and returns false, since the note
 * would replace that of the parent.
 */
bool fd_remember(int fd, enum fd_kind kind, const char *path);

/* Notes that `copy` duplicates `fd`. Does nothing if `copy` is negative, or in a vfork child. */
void fd_copy(int fd, int copy);

/*
 * Notes that `fd`, or each descriptor from `first` to `last`, was closed or means another file. In
 * a vfork child, whose parent keeps its descriptors, both functions do nothing; fd_forget() then
 * returns false if `fd` is in the table.
 */
bool fd_forget(int fd);
void fd_forget_range(unsigned int first, unsigned int last);

/*
 * Begins a forked child's table. What the child closed and opened before was not seen, so the
 * kernel is asked again about the descriptors that the parent had.
 */
void fd_begin(void);

/* Returns the kind in the table; FD_UNKNOWN if it has none. */
enum fd_kind fd_known(int fd);

/*
 * Learns the kind of `fd` from the host's own fstat(), which most readers call before they read.
 * Returns the kind; FD_UNKNOWN if it was known already, or is not needed.
 */
enum fd_kind fd_learn(int fd, mode_t mode);

#define FD_PATH_COUNT 512	/* a power of two */
#define FD_PATH_BYTES 256

/* An entry of the table in fd.c; other files read only its version. */
struct fd_open_path {
	_Atomic uint32_t version;
	int fd;
	char text[FD_PATH_BYTES];
};

extern HIDDEN struct fd_open_path fd_paths[FD_PATH_COUNT];

/* Returns the address of a path's version, which changes when the descriptor means another file. */
static inline const _Atomic uint32_t *fd_path_version_at(int fd)
{
	return &fd_paths[(unsigned int)fd % FD_PATH_COUNT].version;
}

static inline uint32_t fd_path_version(int fd)
{
	return atomic_load_explicit(fd_path_version_at(fd), memory_order_acquire);
}

/* Copies the end of the path, or "". Returns the path's version, or 0 if there is no path. */
uint32_t fd_path(int fd, char path[FD_PATH_BYTES]);

/* Kinds of the first FD_PAGE descriptors, used by fd.c and fd_kind() only. */
#define FD_PAGE 4096
extern HIDDEN _Atomic uint8_t fd_first_page[FD_PAGE];

enum fd_kind fd_find_kind(int fd);

/*
 * Returns FD_DATA, FD_PIPE, FD_SOCKET or FD_OTHER. In a vfork child, a descriptor that its parent
 * does not know is FD_OTHER.
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
