/* SPDX-License-Identifier: Apache-2.0 */
/* loading.h - one load: the call in which a loader fetches samples and makes a batch of them. */
#pragma once

#include "python/interpreter/api.h"
#include "record/thread.h"

/* Returns how many samples `indices` asks for: its length, or 1 if it has none. */
uint32_t loading_count(PyObject *indices);

/*
 * Calls `original`, which loads the batch that `thread` is to load, and writes the record.
 * `samples`: 0 if not known. The end of a stream (StopIteration) is no load.
 */
PyObject *loading_call(struct thread *thread, uint32_t samples, PyObject *original, PyObject *args,
		       PyObject *kwargs);

/* Wraps a function that makes a batch of samples; the original is its `self`. */
extern PyMethodDef loading_collate HIDDEN;
