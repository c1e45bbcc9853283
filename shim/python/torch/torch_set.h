/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_set.h - gives PyTorch's loaders the settings of DLPROF_SET, when their iterators are made.
 * Constructors are left alone, since libraries inspect them.
 */
#pragma once

#include "python/interpreter/api.h"

/*
 * Sets a loader, and notes what changes, and what cannot. Called before DataLoader.__iter__, but
 * not in a worker, which may have no children.
 */
void torch_set_loader(PyObject *loader);

/* Sets what only forked workers inherit from the training; called when a worker begins. */
void torch_set_worker(void);
