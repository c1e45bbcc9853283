/* SPDX-License-Identifier: Apache-2.0 */
/* activate.h - whether this process records, which every wrapper asks first. start.h begins it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

/*
 * thread_life while this process records, else 0. It lies in a page that the kernel wipes in every
 * forked child, however it was forked, so no child ever writes into its parent's rings.
 *
 * Where the kernel does not wipe it (gVisor), activate_forked() clears it, which libc calls in a
 * child of fork(). A child made without libc is recognised by its pid, and only where records are
 * written: what it reads from a file that its parent had open is added to the parent's sums.
 */
extern HIDDEN const volatile uint32_t *activate_cell;
extern HIDDEN bool activate_unwiped;

/*
 * A child that shares this process's memory may have been made: syscall.S sets this before vfork()
 * and clone(). While it is false, a caller that sees the cell on need not ask for its pid.
 */
extern HIDDEN volatile bool activate_shares;

/*
 * 0, or thread_life. A caller that sees it set also sees what start_recording() has set up;
 * syscall.S and dl.S look, too.
 */
static inline uint32_t activate_on(void)
{
	return __atomic_load_n(activate_cell, __ATOMIC_ACQUIRE);
}

/* Whether the cell is this process's own: a system call, for kernels that do not wipe it. */
bool activate_is_own(void);

/* Whether this process records, to ask before writing records. */
static inline bool activate_is_here(void)
{
	return activate_on() && (likely(!activate_unwiped) || activate_is_own());
}

/* Clears the cell in a child of libc's fork(), where that is needed. */
void activate_forked(void);

/* Makes the cell, empty. 0, or -errno: forked children cannot be told apart. */
int activate_prepare(void);

/* Sets the cell: this process records from now on, in this life of it. */
void activate_set(uint32_t life);
