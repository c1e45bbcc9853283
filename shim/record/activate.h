/* SPDX-License-Identifier: Apache-2.0 */
/* activate.h - whether this process records, which each wrapper asks first. start.h begins it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

/*
 * Holds thread_life while this process records, else 0. It lies in a page that the kernel wipes in
 * every forked child, however it was forked, so no child ever writes into its parent's rings.
 *
 * A kernel that does not wipe the page (gVisor) leaves that to activate_forked(), which libc calls
 * in a child of fork(). A child made without libc is recognised by its pid, and only where records
 * are written: what it reads from a file that its parent had open is added to the parent's sums.
 */
extern HIDDEN const volatile uint32_t *activate_cell;
extern HIDDEN bool activate_unwiped;

/*
 * True once a child that shares this process's memory may have been made: syscall.S sets this
 * before vfork() and clone(). While it is false, a caller that finds the cell set need not check
 * its pid.
 */
extern HIDDEN volatile bool activate_shares;

/*
 * Returns thread_life while this process records, else 0. A caller that finds it set also sees all
 * that start_recording() has set up; syscall.S and dl.S read the cell, too.
 */
static inline uint32_t activate_on(void)
{
	return __atomic_load_n(activate_cell, __ATOMIC_ACQUIRE);
}

/* Whether this process set the cell, by a system call: for kernels that do not wipe the page. */
bool activate_is_own(void);

/* Whether this process records; to be asked before writing records. */
static inline bool activate_is_here(void)
{
	return activate_on() && (likely(!activate_unwiped) || activate_is_own());
}

/* Clears the cell in a child of libc's fork(), if the kernel does not. */
void activate_forked(void);

/* Makes the cell, still 0. Returns 0, or -errno if forked children could not be told apart. */
int activate_prepare(void);

/* Sets the cell: this process records from now on, in life `life`. */
void activate_set(uint32_t life);
