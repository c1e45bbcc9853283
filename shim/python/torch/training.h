/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.h - points that divide a training's step: training.def, and optimizers' global hooks.
 *
 * Nothing in torch.nn and no optimizer's method is wrapped: torch.compile, learning rate schedulers
 * and accelerate inspect them.
 */
#pragma once

#include <stddef.h>

#include "python/interpreter/api.h"

enum training_row {
#define POINT(id, module, function, part) TRAINING_##id,
#include "python/torch/training.def"
#undef POINT
};

void training_patch(PyObject *module, size_t row);

/* PyTorch has these hooks since 2.0. */
void training_patch_optimizer(PyObject *module, size_t row);
