/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - lets a recording process that becomes another program by execve() go on with its run.
 *
 * None of our functions is called at that moment. What the next program must know is in the header
 * of the last one's first segment, to which DLPROF_LIFE leads.
 */
#pragma once

#include "dlprof/segment.h"

/*
 * Returns the header of this process's earlier life that began the run in `folder`, or went on with
 * it; NULL if there is none. The header stays valid.
 */
const struct dlprof_header *life_before(const char *folder);

/* Announces this life to the next one. Returns 0, or -ENOMEM: the next one records like a child. */
int life_announce(void);
