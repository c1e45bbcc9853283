/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paddle.h - follows PaddlePaddle's DataLoader, whose workers are like PyTorch's (torch_worker.c).
 *
 * A thread in the training's process receives the workers' batches, and sorts them.
 */
#pragma once

#include <stddef.h>

#include "base/sys.h"
#include "python/loaders/follow.h"

extern HIDDEN const struct follow_crew paddle_crew;

void paddle_patch(PyObject *module, size_t row);
