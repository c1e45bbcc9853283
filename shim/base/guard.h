/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - makes a process that adopts the drain, so that no wait() of the host returns the drain.
 *
 * The guard shares the host's memory, never calls execve(), and has no exit signal, so the host's
 * wait() returns it only with __WALL or __WCLONE. `ps` shows the guard under the host's name. If
 * the host kills the guard, but not the drain, the host adopts the drain after all.
 */
#pragma once

#include <stdbool.h>

bool guard_is_needed(void);

/* Calls start(argument) in the guard, and returns its pid or -errno. The caller blocks signals. */
int guard_start(int (*start)(void *argument), void *argument);
