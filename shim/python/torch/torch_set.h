/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_set.h - give PyTorch's loaders the settings that DLPROF_SET asks for, where their iterators
 * are made. Their constructors are left alone: libraries inspect these.
 */
#pragma once

#include "python/interpreter/api.h"

/*
 * DataLoader.__iter__ is about to be called. Notes what becomes different, and what cannot be. Not
 * within a worker, which may have no children.
 */
void torch_set_loader(PyObject *loader);

/* A worker begins: what a process that was not forked from the training lacks. */
void torch_set_worker(void);
