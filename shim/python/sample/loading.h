/* SPDX-License-Identifier: Apache-2.0 */
/* loading.h - one load: the call in which a loader fetches samples and makes a batch. */
#pragma once

#include "python/interpreter/api.h"
#include "record/thread.h"

/* Returns the length of `indices`, or 1 if it has none. */
uint32_t loading_count(PyObject *indices);

/* Calls `original` as a load of `samples` samples (0: unknown). StopIteration is no load. */
PyObject *loading_call(struct thread *thread, uint32_t samples, PyObject *original, PyObject *args,
		       PyObject *kwargs);

extern PyMethodDef loading_collate HIDDEN;
