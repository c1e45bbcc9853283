/* SPDX-License-Identifier: Apache-2.0 */
/* torch.h - patches the DataLoaders of PyTorch 1.x and 2.x, and of torchdata. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "python/interpreter/api.h"

/* Packages with workers like PyTorch's. Only the workers are alike in PADDLE. */
enum torch_package { TORCH, TORCHDATA, PADDLE, TORCH_PACKAGE_MAX };

void torch_patch_dataloader(PyObject *module, size_t package);
void torch_patch_fetch(PyObject *module, size_t package);
void torch_patch_worker(PyObject *module, size_t package);
void torch_patch_pinning(PyObject *module, size_t package);

/* true: this torch has another name for __next__, so no batch is seen */
extern HIDDEN bool torch_blind;

/* Announces that the first batches of the next iter(), if it is of this loader, will be skipped. */
void torch_skip(const void *loader, uint64_t batches);

/* Returns the inode of a multiprocessing.Queue's pipe, which is the same in each process. */
uint64_t torch_pipe_inode(PyObject *queue, const char *end);

/* Returns the tuple's first item, or -1 if that is no number. */
int64_t torch_first_number(PyObject *tuple);
