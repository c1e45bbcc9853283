/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd.h - knows what kind of file each descriptor is, as only reads of data files count as data.
 *
 * A vfork child shares the table with its parent, so such a child changes nothing.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sys.h"

enum fd_kind {
	FD_UNKNOWN,
	FD_NAMED,	/* by its path it may be a data file; the kernel was not asked yet */
	FD_DATA,
	FD_PIPE,
	FD_SOCKET,
	FD_DEVICE, /* a terminal, or another character device */
	FD_OTHER,
};

enum fd_kind fd_kind_of_path(const char *path);

/* Notes what `fd` is, if >= 0. `path` NULL: ask the kernel for it. False: this is a vfork child. */
bool fd_remember(int fd, enum fd_kind kind, const char *path);

/* Notes that `copy`, if >= 0, is a copy of `fd`. Does nothing in a vfork child. */
void fd_copy(int fd, int copy);

/* Forget closed descriptors. False: this vfork child's parent knows `fd`, so nothing was done. */
bool fd_forget(int fd);
void fd_forget_range(unsigned int first, unsigned int last);

/* Forgets what a forked child no longer has: it may have closed files before it records. */
void fd_begin(void);

enum fd_kind fd_known(int fd);

/* Notes and returns the kind that the host's own fstat() shows; FD_UNKNOWN: it was known before. */
enum fd_kind fd_learn(int fd, mode_t mode);

#define FD_PATH_COUNT 512
#define FD_PATH_BYTES 256

/* The path of a descriptor. Code outside of fd.c reads only the version. */
struct fd_open_path {
	_Atomic uint32_t version;
	int fd;
	char text[FD_PATH_BYTES];
};

extern HIDDEN struct fd_open_path fd_paths[FD_PATH_COUNT];

/* Returns the address of the path's version, which changes when `fd` becomes another file. */
static inline const _Atomic uint32_t *fd_path_version_at(int fd)
{
	return &fd_paths[(unsigned int)fd % FD_PATH_COUNT].version;
}

static inline uint32_t fd_path_version(int fd)
{
	return atomic_load_explicit(fd_path_version_at(fd), memory_order_acquire);
}

/* Copies the kernel's name of the file, which may be "pipe:[7]". Returns true if it is a path. */
bool fd_link(int fd, char path[FD_PATH_BYTES]);

/* Copies the end of the path of `fd`, or "". Returns the path's version, or 0 if `fd` < 0. */
uint32_t fd_path(int fd, char path[FD_PATH_BYTES]);

#define FD_PAGE 4096
extern HIDDEN _Atomic uint8_t fd_first_page[FD_PAGE];

enum fd_kind fd_find_kind(int fd);

/* Returns the kind, but never FD_NAMED or FD_UNKNOWN. A vfork child gets FD_OTHER instead. */
static inline enum fd_kind fd_kind(int fd)
{
	if (likely((unsigned int)fd < FD_PAGE)) {
		enum fd_kind kind = atomic_load_explicit(&fd_first_page[fd], memory_order_relaxed);

		if (likely(kind > FD_NAMED))
			return kind;
	}
	return fd_find_kind(fd);
}
