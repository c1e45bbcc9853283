/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - what a load consists of: samples of the dataset, and the transforms of each.
 *
 * No class of the user's is touched: it may be pickled by value. A fetcher, which is the loader's
 * own and short-lived, gets a stand-in for its dataset; Compose gets a stand-in for `self` for the
 * length of one call.
 */
#pragma once

#include <stddef.h>

#include "python/interpreter/api.h"

/* Puts stand-ins before the dataset (or its iterator) of a fetcher; once per fetcher. */
void steps_watch(PyObject *fetcher);

/*
 * Compose is patched while something loads, and only then: in between, torch.compile and
 * torch.export must find the function that it is. Those that a dataset calls do not find it.
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
