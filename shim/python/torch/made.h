/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made.h - measures the tensors and bytes of a batch, for a thread's first two loads and every 16th
 * later one.
 *
 * No code of the user runs: containers are walked through the C API, and only tensors and arrays of
 * exactly the known classes are measured, whose attributes are C code. An object of another class
 * makes the size unknown, never smaller.
 */
#pragma once

#include "python/interpreter/api.h"
#include "record/thread.h"

/* Measures `batch`, whose load was just recorded. Leaves no exception behind. */
void made_look(struct thread *thread, PyObject *batch);
