/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - times the steps of a load: getting each sample from the dataset, and its transforms.
 *
 * User classes stay unchanged, as they may be pickled by value: a fetcher's dataset and, during a
 * call, Compose's `self` are replaced by stand-ins.
 */
#pragma once

#include <stddef.h>

#include "python/interpreter/api.h"

/* Replaces a fetcher's dataset, or its iterator, by a stand-in; called once per fetcher. */
void steps_watch(PyObject *fetcher);

/* Returns a stand-in for a dataset with indices, as a new reference, or NULL. */
PyObject *steps_dataset(PyObject *dataset);

/* Compose is wrapped only during loads: torch.compile and torch.export must find the original. */
void steps_load_begin(void);
void steps_load_end(void);

enum steps_row {
#define STEPS(id, module, class, method, wrapper) STEPS_##id,
#include "python/sample/steps.def"
#undef STEPS
};

void steps_patch(PyObject *module, size_t row);
