/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - a program that becomes another by execve() while it records: the next goes on with its
 * run.
 *
 * Nothing of ours is called when it does. What the next program must know stands in the header of
 * the last one's first segment, and DLPROF_LIFE says where that is.
 */
#pragma once

#include "dlprof/segment.h"

/*
 * The header of the life of this process that began the run in `folder`, or went on with it; NULL:
 * none did. Stays valid.
 */
const struct dlprof_header *life_before(const char *folder);

/* For the life after this one. 0, or -ENOMEM: that one will record as a child of the run does. */
int life_announce(void);
