/* SPDX-License-Identifier: Apache-2.0 */
/* torch.h - patch PyTorch's DataLoader, 1.x to 2.x. Called by audit.c with the finished module. */
#ifndef TORCH_H
#define TORCH_H

#include "python/api.h"

void torch_patch_dataloader(PyObject *module);
void torch_patch_fetch(PyObject *module);
void torch_patch_worker(PyObject *module);

#endif
