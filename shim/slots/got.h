/* SPDX-License-Identifier: Apache-2.0 */
/* got.h - puts wrappers between loaded modules and the libraries that they use. */
#pragma once

#include <stdbool.h>

/* Puts wrappers into slots. Cheap if no module was loaded since the last sweep. */
void got_sweep(void);

/* Prepares for sweeps. Called when this process begins to record, before any thread can sweep. */
void got_begin(void);

/* Returns true if got_sweep() finished the module of `address`. Takes no lock. */
bool got_knows(const void *address);

/* Does a sweep for a module of another dlmopen() namespace. */
void got_sweep_foreign(const void *address);
