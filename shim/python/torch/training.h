/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.h - wraps functions that divide a training's step (training.def), and sets optimizers'
 * global hooks. Nothing in torch.nn or torch.optim is wrapped, since torch.compile, schedulers and
 * accelerate inspect what is there.
 */
#pragma once

#include <stddef.h>

#include "python/interpreter/api.h"

enum training_row {
#define POINT(id, module, function, part) TRAINING_##id,
#include "python/torch/training.def"
};

void training_patch(PyObject *module, size_t row);

/* Sets optimizers' global hooks, which PyTorch has since 2.0. */
void training_patch_optimizer(PyObject *module, size_t row);

/* Makes the hooks ask torch.compiler whether they are compiled, once that module is imported. */
void training_patch_compiler(PyObject *module, size_t row);

/* Notices optimizers that torch.compile is about to compile. */
void training_patch_dynamo(PyObject *module, size_t row);
