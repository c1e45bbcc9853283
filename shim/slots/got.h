/* SPDX-License-Identifier: Apache-2.0 */
/*
 * got.h - put wrappers between loaded modules and the libraries that they use.
 *
 * Each module reaches a function of another through slots of its own, which ld.so filled in: the
 * right function for this module, however it was loaded. A slot that leads to a decoder gets the
 * wrapper instance that stands for exactly the function that was in it.
 */
#ifndef GOT_H
#define GOT_H

#include <stdbool.h>

/* Changes the slots of what was loaded since the last time. Cheap if nothing was. */
void got_sweep(void);

/*
 * This process is about to record: it is the first time, or it was forked from one that does.
 * Before any other thread can see that it does, and sweep.
 */
void got_begin(void);

/* Whether `address` lies in a module that got_sweep() is done with. Takes no lock. */
bool got_knows(const void *address);

/*
 * `address` is of no module in this namespace; if it is of another one (dlmopen), changes the slots
 * of the modules in there.
 */
void got_sweep_foreign(const void *address);

#endif
