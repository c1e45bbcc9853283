/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd.h - the kind of file behind a descriptor, so that only data files count as data.
 *
 * A vfork child shares its parent's table.
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
	FD_DEVICE, /* a terminal, or another character device */
	FD_OTHER,
};

enum fd_kind fd_kind_of_path(const char *path);

/* Notes what `fd` is, if >= 0. `path` NULL: the kernel knows it. Returns false in a vfork child. */
bool fd_remember(int fd, enum fd_kind kind, const char *path);

/* Notes that `copy`, if >= 0, is a copy of `fd`. Does nothing in a vfork child. */
void fd_copy(int fd, int copy);

/*
 * Forget descriptors that were closed. In a vfork child they do nothing, and fd_forget() returns
 * false for a descriptor that the parent knows.
 */
bool fd_forget(int fd);
void fd_forget_range(unsigned int first, unsigned int last);

/* Begins a forked child's table: the child may have closed and opened descriptors unseen. */
void fd_begin(void);

enum fd_kind fd_known(int fd);

/* Learns a kind from the host's own fstat(). Returns FD_UNKNOWN if that was not needed. */
enum fd_kind fd_learn(int fd, mode_t mode);

#define FD_PATH_COUNT 512
#define FD_PATH_BYTES 256

/* The path of a descriptor. Only fd.c reads more than the version. */
struct fd_open_path {
	_Atomic uint32_t version;
	int fd;
	char text[FD_PATH_BYTES];
};

extern HIDDEN struct fd_open_path fd_paths[FD_PATH_COUNT];

/* Returns where the version is, which changes when the descriptor means another file. */
static inline const _Atomic uint32_t *fd_path_version_at(int fd)
{
	return &fd_paths[(unsigned int)fd % FD_PATH_COUNT].version;
}

static inline uint32_t fd_path_version(int fd)
{
	return atomic_load_explicit(fd_path_version_at(fd), memory_order_acquire);
}

/* Copies what the kernel calls the file, as "pipe:[7]". Returns true if that is a path. */
bool fd_link(int fd, char path[FD_PATH_BYTES]);

/* Copies the end of the descriptor's path, or "". Returns the path's version; 0: `fd` < 0. */
uint32_t fd_path(int fd, char path[FD_PATH_BYTES]);

#define FD_PAGE 4096
extern HIDDEN _Atomic uint8_t fd_first_page[FD_PAGE];

enum fd_kind fd_find_kind(int fd);

/* Returns the kind, never FD_NAMED or FD_UNKNOWN. Unknown ones are FD_OTHER in a vfork child. */
static inline enum fd_kind fd_kind(int fd)
{
	if (likely((unsigned int)fd < FD_PAGE)) {
		enum fd_kind kind = atomic_load_explicit(&fd_first_page[fd], memory_order_relaxed);

		if (likely(kind > FD_NAMED))
			return kind;
	}
	return fd_find_kind(fd);
}
