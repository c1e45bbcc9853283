/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paddle.h - PaddlePaddle's DataLoader with workers. Its workers are PyTorch's (torch_worker.c); a
 * thread of the training takes what they send, puts it in order, and into a queue in C++.
 */
#pragma once

#include <stddef.h>

#include "base/sys.h"
#include "python/loaders/follow.h"

extern HIDDEN const struct follow_crew paddle_crew;

/* Patches the finished module; called by audit.c. */
void paddle_patch(PyObject *module, size_t row);
