/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd.h - what kind of thing a file descriptor is, so that only data counts as data.
 *
 * Tensor transport (pipes, sockets, shared memory), Python's own modules and the system's files
 * are not data. The table is private memory, so a forked child goes on with its parent's. What it
 * does not know it asks the kernel once. A vfork child shares it: forgetting checks the pid.
 */
#ifndef FD_H
#define FD_H

#include <stdbool.h>
#include <stdint.h>

enum fd_kind {
	FD_UNKNOWN,
	FD_NAMED,	/* opened by a data-like path; the kernel was not asked yet */
	FD_DATA,
	FD_PIPE,
	FD_OTHER,
};

/* By the path alone: FD_NAMED or FD_OTHER. */
enum fd_kind fd_kind_of_path(const char *path);

/*
 * `fd` was opened as a file of this path; NULL: the kernel knows it. Negative fd, or a vfork child
 * that would overwrite what its parent has: nothing happens.
 */
void fd_remember(int fd, enum fd_kind kind, const char *path);

/* `copy` is a duplicate of `fd`. */
void fd_copy(int fd, int copy);

/*
 * `fd`, or all from `first` to `last`, are closed or mean something else from now on. False, and
 * nothing happens, in a vfork child.
 */
bool fd_forget(int fd);
void fd_forget_range(unsigned int first, unsigned int last);

/* What the table holds; FD_UNKNOWN where it holds nothing. */
enum fd_kind fd_known(int fd);

#define FD_PATH_BYTES 256

/* The end of the path, or an empty string; its version, 0 if there is none. */
uint32_t fd_path(int fd, char path[FD_PATH_BYTES]);

/* Changes when the descriptor comes to mean another file. */
uint32_t fd_path_version(int fd);

/* FD_DATA, FD_PIPE or FD_OTHER. */
enum fd_kind fd_kind(int fd);

#endif
