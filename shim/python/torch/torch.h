/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch.h - patches the DataLoaders of PyTorch, 1.x to 2.x, and of torchdata. audit.c calls the
 * functions with the finished module.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "python/interpreter/api.h"

/*
 * torchdata's StatefulDataLoader is a DataLoader with its own iterators and workers. Of
 * PaddlePaddle's loader, only the workers are like PyTorch's.
 */
enum torch_package { TORCH, TORCHDATA, PADDLE, TORCH_PACKAGE_MAX };

void torch_patch_dataloader(PyObject *module, size_t package);
void torch_patch_fetch(PyObject *module, size_t package);
void torch_patch_worker(PyObject *module, size_t package);
void torch_patch_pinning(PyObject *module, size_t package);

/* This version of torch has __next__ under an unknown name, so no batch is seen. */
extern HIDDEN bool torch_blind;

/* Returns the inode at one end of a multiprocessing.Queue's pipe, the same in every process. */
uint64_t torch_pipe_inode(PyObject *queue, const char *end);

/* Returns a tuple's first item, a number, or -1. */
int64_t torch_first_number(PyObject *tuple);
