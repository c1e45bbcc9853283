/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_set.h - gives PyTorch's loaders the settings of DLPROF_SET, when their iterators are made.
 * Constructors are not patched for this, since libraries inspect them.
 */
#pragma once

#include "python/interpreter/api.h"

/*
 * Changes a loader's settings, and notes what changes and what cannot. Called before
 * DataLoader.__iter__, but not in a worker, which may have no children.
 */
void torch_set_loader(PyObject *loader);

/* Sets in a worker what spawned ones do not inherit; called when a worker begins. */
void torch_set_worker(void);

/* Number of this worker's next loads before which torch_set_load() is to be called. */
extern int torch_set_loads;

/*
 * Sets the threads of the worker's libraries, and notes it. Called before the first loads: after
 * worker_init_fn, and again after what the first load imports.
 */
void torch_set_load(void);
