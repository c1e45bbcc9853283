/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch.h - patches PyTorch's DataLoader, 1.x to 2.x, and torchdata's. audit.c calls the functions
 * with the finished module.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "python/interpreter/api.h"

/*
 * torchdata's StatefulDataLoader is a DataLoader with its own iterators and workers. Of
 * PaddlePaddle only the workers are like PyTorch's.
 */
enum torch_package { TORCH, TORCHDATA, PADDLE, TORCH_PACKAGE_MAX };

void torch_patch_dataloader(PyObject *module, size_t package);
void torch_patch_fetch(PyObject *module, size_t package);
void torch_patch_worker(PyObject *module, size_t package);
void torch_patch_pinning(PyObject *module, size_t package);

/* This torch delivers its batches under an unknown name. */
extern HIDDEN bool torch_blind;

/* Returns the inode at one end of a multiprocessing.Queue's pipe, equal in every process. */
uint64_t torch_pipe_inode(PyObject *queue, const char *end);

/* Returns the number that comes first in a tuple, or -1. */
int64_t torch_first_number(PyObject *tuple);
