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

#include "sys.h"

/*
 * thread_life while this process records, else 0. Lies in a page that the kernel wipes in every
 * forked child, however it was forked, so no child ever writes into its parent's rings.
 */
extern HIDDEN const volatile uint32_t *activate_cell;

/*
 * 0, or thread_life. What activate() has set up is seen by whoever sees that it did; syscall.S and
 * dl.S look, too.
 */
static inline uint32_t activate_on(void)
{
	return __atomic_load_n(activate_cell, __ATOMIC_ACQUIRE);
}

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
