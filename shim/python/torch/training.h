/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.h - points that divide a training's step: training.def, and optimizers' global hooks.
 *
 * torch.compile, schedulers and accelerate inspect torch.nn and optimizers, so nothing there is
 * wrapped.
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

/* Sets optimizers' global hooks, which PyTorch has since 2.0. */
void training_patch_optimizer(PyObject *module, size_t row);

/* Asks torch.compiler, and no longer a slower function, whether a hook is being compiled. */
void training_patch_compiler(PyObject *module, size_t row);

/* Notices optimizers that torch.compile is about to compile. */
void training_patch_dynamo(PyObject *module, size_t row);
