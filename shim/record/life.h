/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - a recording program that becomes another by execve(), which goes on with its run.
 *
 * Nothing of ours is called at that moment. What the next program must know is in the header of the
 * last one's first segment, to which DLPROF_LIFE leads.
 */
#pragma once

#include "dlprof/segment.h"

/*
 * The header of this process's earlier life that began the run in `folder`, or went on with it;
 * NULL: there is none. It stays valid.
 */
const struct dlprof_header *life_before(const char *folder);

/* Announces this life to the next. 0, or -ENOMEM: the next one will record as a child does. */
int life_announce(void);
