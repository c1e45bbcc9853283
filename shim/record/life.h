/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - lets a recording process go on with its run when it becomes another program by execve().
 *
 * None of our code runs at an execve(). What the next program must know is in the header of the
 * last program's first segment, whose path is in DLPROF_LIFE.
 */
#pragma once

#include "dlprof/segment.h"

/*
 * Returns the header of this process's last life if that recorded into the run in `folder`; else
 * NULL. The header stays valid.
 */
const struct dlprof_header *life_before(const char *folder);

/* Sets DLPROF_LIFE for the next life. Returns 0, or -ENOMEM: that will record like a child. */
int life_announce(void);
