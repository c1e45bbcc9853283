/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - lets a process go on with its run in the program that execve() starts.
 *
 * None of our code runs at execve(), so DLPROF_LIFE always names this program's first segment.
 */
#pragma once

#include "dlprof/segment.h"

/* Returns the header of this process's program before execve(); NULL if it was not in the run. */
const struct dlprof_header *life_before(const char *folder);

/* Sets DLPROF_LIFE. After -ENOMEM, a program that follows by execve() records as a child would. */
int life_announce(void);
