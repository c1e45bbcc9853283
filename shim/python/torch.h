/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch.h - patch PyTorch's DataLoader, 1.x to 2.x, and torchdata's. Called by audit.c with the
 * finished module.
 */
#ifndef TORCH_H
#define TORCH_H

#include <stddef.h>

#include "python/api.h"

/* torchdata's StatefulDataLoader is a DataLoader with iterators and workers of its own. */
enum torch_package { TORCH, TORCHDATA, TORCH_PACKAGE_MAX };

void torch_patch_dataloader(PyObject *module, size_t package);
void torch_patch_fetch(PyObject *module, size_t package);
void torch_patch_worker(PyObject *module, size_t package);

#endif
