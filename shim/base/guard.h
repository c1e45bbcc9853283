/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - makes a process that adopts the drain, so that the host's wait() does not see it.
 *
 * The guard shares the host's memory, never calls execve(), and has no exit signal: wait() shows it
 * only with __WALL or __WCLONE. `ps` shows it under the host's name. If the host kills the guard,
 * but not the drain, the host adopts the drain after all.
 */
#pragma once

#include <stdbool.h>

bool guard_is_needed(void);

/* Calls start(argument) in the guard. Returns its pid or -errno. The caller blocks all signals. */
int guard_start(int (*start)(void *argument), void *argument);
