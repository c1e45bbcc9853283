/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - lets a process stay in its run when another program takes its place by execve().
 *
 * No code of ours runs at execve(), so DLPROF_LIFE always names this program's first segment.
 */
#pragma once

#include "dlprof/segment.h"

/* Returns the header of the program that this process ran before execve(), or NULL. */
const struct dlprof_header *life_before(const char *folder);

/* Sets DLPROF_LIFE. -ENOMEM: the next program (execve()) will record as if it were a child. */
int life_announce(void);
