/* SPDX-License-Identifier: Apache-2.0 */
/*
 * got.h - puts wrappers between loaded modules and the libraries that they use.
 *
 * A module calls functions of others through its slots, in which ld.so has put the right function
 * for this module, however it was loaded. A slot that leads to a decoder gets the wrapper instance
 * that stands for the very function that was in it.
 */
#pragma once

#include <stdbool.h>

/* Changes the slots of modules that were loaded since the last sweep. Cheap if none were. */
void got_sweep(void);

/*
 * Prepares for recording, when this process begins to record, for the first time or as a fork.
 * Called before any other thread can see that, and sweep.
 */
void got_begin(void);

/* Whether `address` lies in a module that got_sweep() has finished. Takes no lock. */
bool got_knows(const void *address);

/* Changes slots in the namespace (dlmopen) of `address`, which lies in no module of ours. */
void got_sweep_foreign(const void *address);
