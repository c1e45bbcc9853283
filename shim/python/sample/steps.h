/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - times the steps of a load: getting each sample from the dataset, and its transforms.
 *
 * Stand-ins replace the dataset that PyTorch's fetcher has, and `self` in calls of torchvision's
 * Compose, so the user's classes stay unchanged.
 */
#pragma once

#include <stddef.h>

#include "python/interpreter/api.h"
#include "record/thread.h"

/* Replaces a fetcher's dataset. Called once for each fetcher. */
void steps_watch(PyObject *fetcher);

/* Returns a stand-in for the dataset, as a new reference, or NULL. */
PyObject *steps_dataset(PyObject *dataset);

enum steps_row {
#define STEPS(id, module, class, method, wrapper) STEPS_##id,
#include "python/sample/steps.def"
};

void steps_patch(PyObject *module, size_t row);

/* Returns the length of `indices`, or 1 if it has none. */
uint32_t loading_count(PyObject *indices);

/* Calls `original` as a load of `samples` samples (0: unknown). StopIteration is no load. */
PyObject *loading_call(struct thread *thread, uint32_t samples, PyObject *original, PyObject *args,
		       PyObject *kwargs);

extern PyMethodDef loading_collate HIDDEN;
