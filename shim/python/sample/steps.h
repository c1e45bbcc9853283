/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - times the steps of a load: getting each sample from the dataset, and its transforms.
 *
 * No class of the user is changed, since it may be pickled by value. A fetcher, a short-lived
 * object of the loader, gets a stand-in for its dataset. Compose gets a stand-in for `self` during
 * a call.
 */
#pragma once

#include <stddef.h>

#include "python/interpreter/api.h"

/* Replaces a fetcher's dataset, or its iterator, by a stand-in; called once per fetcher. */
void steps_watch(PyObject *fetcher);

/* Returns a stand-in for a dataset with indices, as a new reference, or NULL. */
PyObject *steps_dataset(PyObject *dataset);

/*
 * Puts the wrappers of Compose in while a load is under way. At other times torch.compile and
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
