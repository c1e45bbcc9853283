/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - times the steps of a load: getting each sample from the dataset, and its transforms.
 *
 * Stand-ins replace a fetcher's dataset and Compose's `self`, so user classes stay unchanged.
 */
#pragma once

#include <stddef.h>

#include "python/interpreter/api.h"

/* Called once per fetcher. */
void steps_watch(PyObject *fetcher);

/* Returns a new reference, or NULL. */
PyObject *steps_dataset(PyObject *dataset);

/* Outside of loads, torch.compile and torch.export must find the original Compose. */
void steps_load_begin(void);
void steps_load_end(void);

enum steps_row {
#define STEPS(id, module, class, method, wrapper) STEPS_##id,
#include "python/sample/steps.def"
#undef STEPS
};

void steps_patch(PyObject *module, size_t row);
