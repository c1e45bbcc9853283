/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activate.h - whether this process records, and how it begins to.
 *
 * STARTING -> IDLE (constructor done) -> ON or OFF. OFF is for good: it could not begin. A fork
 * child of a recording process is neither ON nor idle until a loader's wrapper activates it, which
 * joins it to its parent's run.
 */
#ifndef ACTIVATE_H
#define ACTIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

/*
 * thread_life while this process records, else 0. Lies in a page that the kernel wipes in every
 * forked child, however it was forked, so no child ever writes into its parent's rings.
 *
 * Where the kernel does not (gVisor), activate_forked() clears it, which libc calls in a child of
 * fork(). A child that was made past libc is told by its pid, and only where records are written:
 * it adds to its parent's sums what it reads from a file that its parent had open.
 */
extern HIDDEN const volatile uint32_t *activate_cell;
extern HIDDEN bool activate_unwiped;

/*
 * 0, or thread_life. What activate() has set up is seen by whoever sees that it did; syscall.S and
 * dl.S look, too.
 */
static inline uint32_t activate_on(void)
{
	return __atomic_load_n(activate_cell, __ATOMIC_ACQUIRE);
}

/* Is this the process that the cell is of? A system call: for where the kernel does not wipe it. */
bool activate_is_own(void);

/* Before anything is written that others see as this process's. */
static inline bool activate_is_here(void)
{
	return activate_on() && (likely(!activate_unwiped) || activate_is_own());
}

/* In a child, by libc's fork(). */
void activate_forked(void);

/*
 * The constructor is done: activate() may work from now on. Whenever this process, or one that was
 * forked from it, begins to record, `begins` is called before other threads do, and `begun` after.
 */
void activate_ready(void (*begins)(void), void (*begun)(void));

/* Begins to record unless this process does already or cannot; whether it records. */
bool activate(void);

/* False: neither this process nor one that it was forked from has ever begun, or failed, to record.
 */
bool activate_tried(void);

/* Another thread is in activate(). */
bool activate_busy(void);

/* Why this process does not record although it should; NULL: it does, or nobody asked. */
const char *activate_failure(void);

#endif
