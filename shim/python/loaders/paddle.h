/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paddle.h - PaddlePaddle's DataLoader with workers. The workers are like PyTorch's
 * (torch_worker.c). A thread of the training receives their batches, sorts them, and puts them into
 * a queue in C++.
 */
#pragma once

#include <stddef.h>

#include "base/sys.h"
#include "python/loaders/follow.h"

extern HIDDEN const struct follow_crew paddle_crew;

/* Patches the finished module; called by audit.c. */
void paddle_patch(PyObject *module, size_t row);
