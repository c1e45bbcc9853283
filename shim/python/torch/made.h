/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made.h - counts tensors and bytes of batches: of a thread's first two loads and every 16th one.
 *
 * No code of the user runs, so the size is unknown if a batch has an object of another class.
 * Of more than 16,384 objects neither the tensors nor the size are known.
 */
#pragma once

#include "python/interpreter/api.h"
#include "record/thread.h"

/* Measures a batch whose load was recorded. Leaves no exception. */
void made_look(struct thread *thread, PyObject *batch);
