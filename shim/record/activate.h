/* SPDX-License-Identifier: Apache-2.0 */
/* activate.h - whether this process records, which each wrapper checks first. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

/*
 * Holds thread_life while this process records, else 0.
 *
 * The kernel wipes the page in every forked child, so that no child writes into its parent's rings.
 * gVisor does not: there, fork() of libc calls activate_forked(), and other children are found by
 * their pid before they write a record.
 */
extern HIDDEN const volatile uint32_t *activate_cell;
extern HIDDEN bool activate_unwiped;

/* Set when children may share our memory (vfork(), clone(); syscall.S). The pid is checked then. */
extern HIDDEN volatile bool activate_shares;

/* If not 0, the caller sees what start_recording() set up. syscall.S and dl.S read the cell too. */
static inline uint32_t activate_on(void)
{
	return __atomic_load_n(activate_cell, __ATOMIC_ACQUIRE);
}

/* Compares the pid, by a system call. Needed only if the kernel does not wipe the page. */
bool activate_is_own(void);

static inline bool activate_is_here(void)
{
	return activate_on() && (likely(!activate_unwiped) || activate_is_own());
}

void activate_forked(void);

/* Makes the cell. Returns 0, or -errno if forked children could not be recognized. */
int activate_prepare(void);

void activate_set(uint32_t life);
