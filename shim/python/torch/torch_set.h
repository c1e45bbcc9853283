/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_set.h - give PyTorch's loaders the settings of DLPROF_SET, when their iterators are made.
 * Constructors are left alone, since libraries inspect them.
 */
#pragma once

#include "python/interpreter/api.h"

/*
 * Called before DataLoader.__iter__. Notes what changes, and what cannot. Not in a worker, which
 * may have no children.
 */
void torch_set_loader(PyObject *loader);

/* Called when a worker begins: sets what only forks inherit from the training. */
void torch_set_worker(void);
