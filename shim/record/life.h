/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - lets a process go on with its run after execve(), where none of our code runs.
 *
 * DLPROF_LIFE names the last program's first segment.
 */
#pragma once

#include "dlprof/segment.h"

/* Returns the header of this process's program before execve(); NULL if it was not in the run. */
const struct dlprof_header *life_before(const char *folder);

/* Sets DLPROF_LIFE. After -ENOMEM the next program records like a child. */
int life_announce(void);
