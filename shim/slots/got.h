/* SPDX-License-Identifier: Apache-2.0 */
/*
 * got.h - puts wrappers between loaded modules and the libraries that they use.
 *
 * A module calls functions of other modules through its slots. ld.so has put the right function for
 * this module into each, however the module was loaded. A slot that leads to a decoder gets the
 * wrapper instance of exactly that function.
 */
#pragma once

#include <stdbool.h>

/* Changes the slots of modules that were loaded since the last sweep. Cheap if none were. */
void got_sweep(void);

/*
 * Prepares for recording, when this process begins to record, for the first time or in a forked
 * child. Must be called before any other thread can sweep.
 */
void got_begin(void);

/* Returns true if `address` lies in a module that got_sweep() has finished. Takes no lock. */
bool got_knows(const void *address);

/* Changes slots in the dlmopen() namespace of `address`, which lies in no module of our own one. */
void got_sweep_foreign(const void *address);
