/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made.h - counts the tensors and bytes of a batch, for a thread's first two loads and every 16th
 * later.
 *
 * No code of the user's runs: containers are walked through the C API, and only tensors and arrays
 * of the very classes are asked, whose attributes are C. An object of unknown kind makes the size
 * unknown, never smaller.
 */
#pragma once

#include "python/interpreter/api.h"
#include "record/thread.h"

/* Looks at `batch`, whose load was recorded just now. Leaves no exception behind. */
void made_look(struct thread *thread, PyObject *batch);
