/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - a parent for the drain, where the host itself would become it: wait() would tell the
 * host of a child that it never had, and wait for it.
 *
 * An orphan is adopted by process 1 of its namespace or by the nearest subreaper, and execve()
 * makes every process a child that wait() sees. So where the host is one of these two, a process
 * that never calls execve() stands between: a child without an exit signal, which wait() does not
 * see but with __WALL or __WCLONE. It has the host's memory, since a copy would cost more, and ends
 * with the host.
 *
 * What remains: `ps` shows it with the host's command line and memory, and a host that kills it,
 * but not the drain, gets the drain for a child after all; the memory of a host that ended is free
 * a moment later, not a moment before.
 */
#pragma once

#include <stdbool.h>

/* Whether this process would adopt its orphans. */
bool guard_is_needed(void);

/*
 * Calls start(argument) in the guard, which makes the guarded child and returns its pid or -errno.
 * Returns that, or -errno where there can be no guard. All signals are blocked.
 */
int guard_start(int (*start)(void *argument), void *argument);
