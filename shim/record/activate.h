/* SPDX-License-Identifier: Apache-2.0 */
/* activate.h - whether this process records, which each wrapper checks first; see also start.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

/*
 * Holds thread_life while this process records, else 0. The kernel wipes the cell's page in every
 * forked child, however it was forked, so no child ever writes into its parent's rings.
 *
 * On a kernel that does not wipe the page (gVisor), activate_forked() does, which libc calls in a
 * child of fork(). A child made without libc is recognized by its pid, but only where records are
 * written: what it reads from a file that its parent had opened is added to the parent's sums.
 */
extern HIDDEN const volatile uint32_t *activate_cell;
extern HIDDEN bool activate_unwiped;

/*
 * Set once a child that shares this process's memory may exist: syscall.S sets it before vfork()
 * and clone(). While it is false, a caller that finds the cell set need not check its pid.
 */
extern HIDDEN volatile bool activate_shares;

/*
 * Returns thread_life while this process records, else 0. If it is set, all that start_recording()
 * has set up is visible to the caller. syscall.S and dl.S read the cell themselves.
 */
static inline uint32_t activate_on(void)
{
	return __atomic_load_n(activate_cell, __ATOMIC_ACQUIRE);
}

/* Returns true if this process set the cell. A system call; needed if the page is not wiped. */
bool activate_is_own(void);

/* Returns true if this process records; called before records are written. */
static inline bool activate_is_here(void)
{
	return activate_on() && (likely(!activate_unwiped) || activate_is_own());
}

/* Clears the cell in a child of libc's fork() if the kernel does not. */
void activate_forked(void);

/* Makes the cell, with value 0. Returns 0, or -errno if forked children could not be recognized. */
int activate_prepare(void);

/* Sets the cell: from now on this process records, in life `life`. */
void activate_set(uint32_t life);
