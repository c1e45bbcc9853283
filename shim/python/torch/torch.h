/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch.h - patch PyTorch's DataLoader, 1.x to 2.x, and torchdata's. Called by audit.c with the
 * finished module.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "python/interpreter/api.h"

/* torchdata's StatefulDataLoader is a DataLoader with iterators and workers of its own. */
enum torch_package { TORCH, TORCHDATA, TORCH_PACKAGE_MAX };

void torch_patch_dataloader(PyObject *module, size_t package);
void torch_patch_fetch(PyObject *module, size_t package);
void torch_patch_worker(PyObject *module, size_t package);
void torch_patch_pinning(PyObject *module, size_t package);

/* This torch hands out its batches under another name than we know. */
extern HIDDEN bool torch_blind;

/* Inode of the pipe at one end of a multiprocessing.Queue: the same number in every process. */
uint64_t torch_pipe_inode(PyObject *queue, const char *end);

/* The number in the first place of a tuple, or -1. */
int64_t torch_first_number(PyObject *tuple);
