/* SPDX-License-Identifier: Apache-2.0 */
/* torch_set.h - gives PyTorch's loaders the settings of DLPROF_SET, when iterators are made. */
#pragma once

#include "python/interpreter/api.h"

/* Sets a loader's settings. Not called in workers, which may have no children. */
void torch_set_loader(PyObject *loader);

/* Sets what a spawned worker does not inherit. */
void torch_set_worker(void);

/* next loads of this worker before which to call torch_set_load() */
extern int torch_set_loads;

/* Called again after what the first load imports. */
void torch_set_load(void);
