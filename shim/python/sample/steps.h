/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - times the steps of a load: samples of the dataset, and the transforms of each.
 *
 * No class of the user's is changed: it may be pickled by value. A fetcher, which is the loader's
 * own and short-lived, gets a stand-in for its dataset; Compose gets a stand-in for `self` during
 * one call.
 */
#pragma once

#include <stddef.h>

#include "python/interpreter/api.h"

/* Puts a stand-in before a fetcher's dataset (or its iterator); once per fetcher. */
void steps_watch(PyObject *fetcher);

/* Returns a stand-in for a dataset that is asked by index; a new reference, or NULL. */
PyObject *steps_dataset(PyObject *dataset);

/*
 * Put the wrappers of Compose in while something loads: at other times torch.compile and
 * torch.export must find the original function. (If a dataset calls those, they find the wrapper.)
 */
void steps_load_begin(void);
void steps_load_end(void);

enum steps_row {
#define STEPS(id, module, class, method, wrapper) STEPS_##id,
#include "python/sample/steps.def"
#undef STEPS
};

/* Patches a row of steps.def in its module, which has been imported. */
void steps_patch(PyObject *module, size_t row);
