/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - a parent for the drain if the host itself would become its parent: wait() would show
 * the host a child that it never made, and wait for it.
 *
 * An orphan is adopted by process 1 of its namespace or by the nearest subreaper, and execve()
 * makes every process a child that wait() shows. So if the host is one of these two, a process that
 * never calls execve() stands between: a child without an exit signal, which wait() shows only with
 * __WALL or __WCLONE. It shares the host's memory, since a copy would cost more, and ends with the
 * host.
 *
 * What remains: `ps` shows the guard with the host's command line and memory; a host that kills the
 * guard, but not the drain, gets the drain for a child after all; and the memory of a host that
 * ended is free only a moment later.
 */
#pragma once

#include <stdbool.h>

/* Whether this process would adopt its orphans. */
bool guard_is_needed(void);

/*
 * Calls start(argument) in the guard, which makes the child to be guarded and returns its pid or
 * -errno. Returns that, or -errno if there can be no guard. The caller has blocked all signals.
 */
int guard_start(int (*start)(void *argument), void *argument);
