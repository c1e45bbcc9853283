/* SPDX-License-Identifier: Apache-2.0 */
/* torch_set.h - gives PyTorch's loaders the settings of DLPROF_SET, when iterators are made. */
#pragma once

#include "python/interpreter/api.h"

/* Gives a loader its settings. Not for workers, which may have no children. */
void torch_set_loader(PyObject *loader);

/* Sets what a spawned worker does not inherit. */
void torch_set_worker(void);

/* number of this worker's next loads before each of which torch_set_load() is to be called */
extern int torch_set_loads;

/* Sets the number of threads. Called twice, as a first load may import further libraries. */
void torch_set_load(void);
