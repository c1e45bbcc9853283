/* SPDX-License-Identifier: Apache-2.0 */
/* loading.h - one load: the call in which a loader's samples are fetched and made a batch. */
#pragma once

#include "python/interpreter/api.h"
#include "record/thread.h"

/* Returns the number of samples that `indices` asks for: its size, or one. */
uint32_t loading_count(PyObject *indices);

/*
 * Calls `original`, which loads the batch that `thread` was given, and writes the record.
 * `samples`: 0 if not known. The end of a stream (StopIteration) is no load.
 */
PyObject *loading_call(struct thread *thread, uint32_t samples, PyObject *original, PyObject *args,
		       PyObject *kwargs);

/* A function that makes a batch of samples; the original is its `self`. */
extern PyMethodDef loading_collate HIDDEN;
