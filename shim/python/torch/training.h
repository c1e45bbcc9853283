/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.h - points in PyTorch that divide a training's step: its functions for the backward pass
 * and for saving (training.def), and the global hooks of optimizers.
 *
 * Nothing in torch.nn and no method of an optimizer is wrapped: torch.compile, learning rate
 * schedulers and accelerate inspect those closely. Tensor.backward calls the patched function.
 */
#pragma once

#include <stddef.h>

#include "python/interpreter/api.h"

enum training_row {
#define POINT(id, module, function, part) TRAINING_##id,
#include "python/torch/training.def"
#undef POINT
};

/* Patches a row of training.def in its module, which has been imported. */
void training_patch(PyObject *module, size_t row);

/* Registers the global hooks of torch.optim.optimizer, which PyTorch has since 2.0. */
void training_patch_optimizer(PyObject *module, size_t row);
