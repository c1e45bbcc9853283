/* SPDX-License-Identifier: Apache-2.0 */
/* activate.h - says whether this process records. Each wrapper checks this first. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

/*
 * The cell has the value of thread_life while this process records, else 0.
 *
 * The kernel clears the cell's page in every forked child, so that no child writes into its
 * parent's rings. gVisor does not. There, fork() of libc calls activate_forked(), and other
 * children are recognized by their pid before they write a record.
 */
extern HIDDEN const volatile uint32_t *activate_cell;
extern HIDDEN bool activate_unwiped;

/* Set once children may share our memory (vfork(), clone(); syscall.S): then the pid is checked. */
extern HIDDEN volatile bool activate_shares;

/* Returns the cell. If not 0, the caller also sees all that start_recording() set up. */
static inline uint32_t activate_on(void)
{
	return __atomic_load_n(activate_cell, __ATOMIC_ACQUIRE);
}

/* Returns false in a forked child, by a system call. Used if the kernel does not clear the page. */
bool activate_is_own(void);

static inline bool activate_is_here(void)
{
	return activate_on() && (likely(!activate_unwiped) || activate_is_own());
}

void activate_forked(void);

/* Makes the cell. Returns 0, or -errno if forked children cannot be recognized here. */
int activate_prepare(void);

void activate_set(uint32_t life);
