/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook.h - what a wrapper of libc needs.
 *
 * A wrapper is: not recording? the real call. Else begin, the real call, end. It never changes
 * errno or a result, and holds nothing across the real call, which may never return.
 */
#ifndef HOOK_H
#define HOOK_H

/* C99 turns fscanf into __isoc99_fscanf; both names are wrapped, each as itself. */
#include <features.h>
#undef __GLIBC_USE_DEPRECATED_SCANF
#define __GLIBC_USE_DEPRECATED_SCANF 1

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "activate.h"
#include "fd.h"
#include "span.h"
#include "sys.h"

#ifdef _FILE_OFFSET_BITS
#error "_FILE_OFFSET_BITS turns open into open64: the wrong names would be exported"
#endif

/* aarch64 has no such calls; 0 means: look the function up. */
#ifndef SYS_open
#define SYS_open  0
#define SYS_creat 0
#define SYS_dup2  0
#endif

/* Macros of optimised stdio. */
#undef fread_unlocked
#undef fgets_unlocked

/*
 * stdio keeps the descriptor in the struct; fileno() would set errno on a memory stream. glibc takes
 * a null pointer where there is nothing to do: fread() of 0 bytes.
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

/* The functions that the host would have called without us. */
struct real {
#define HOOK(family, nr, type, name, params, args) type(*name) params;
#define HOOK_BY_HAND(nr, type, name, params, args) type(*name) params;
#define HOOK_VARIADIC				   HOOK_BY_HAND
#include "hooks/hooks.def"
#undef HOOK
#undef HOOK_BY_HAND
#undef HOOK_VARIADIC
};

extern struct real real;

/* Looks all of them up. Called by the constructor, or by a wrapper that is called before it. */
void real_resolve(void);

/* Each hook_*_begin(): true if the call is to be recorded, and then an end must follow. */
bool hook_open_begin(struct span *span);
bool hook_close_begin(struct span *span, int fd);
bool hook_read_begin(struct span *span, int fd);

/* The end of an open: decides by path and flags whether it was one of a data file. */
void hook_open_end(struct span *span, int fd, const char *path, int flags);

#endif
