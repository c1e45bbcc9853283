/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - makes a process that adopts the drain in the host's place. If the host adopted it, the
 * host's wait() would return a child that the host never made, or wait for that child.
 *
 * A process whose parent ended is adopted by process 1 of its namespace or by the nearest
 * subreaper. If the host is one of these, the guard is put between host and drain. The guard never
 * calls execve(), and is made without an exit signal, so wait() shows it only with __WALL or
 * __WCLONE. The drain itself would not stay hidden, as execve() sets a process's exit signal to
 * SIGCHLD. The guard shares the host's memory, since a copy would cost more, and ends with the
 * host.
 *
 * What remains: `ps` shows the guard with the host's command line and memory; a host that kills the
 * guard, but not the drain, adopts the drain after all; and the memory of a host that ended is
 * freed only a moment later.
 */
#pragma once

#include <stdbool.h>

/* Returns true if this process would adopt its orphans. */
bool guard_is_needed(void);

/*
 * Calls start(argument) in the guard; start() makes the child and returns its pid or -errno.
 * Returns the same, or -errno if no guard can be made. The caller has blocked all signals.
 */
int guard_start(int (*start)(void *argument), void *argument);
