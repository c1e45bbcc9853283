/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made.h - how many tensors a batch has, and how large it is: of a thread's first two loads and
 * every 16th after them.
 *
 * No code of the user's runs: containers are walked through the C API, and tensors and arrays are
 * asked only if they are of the classes themselves, whose attributes are C. What is not understood
 * makes the size unknown, never smaller.
 */
#pragma once

#include "python/interpreter/api.h"
#include "record/thread.h"

/* The load that `batch` came from was recorded just now. Leaves no exception behind. */
void made_look(struct thread *thread, PyObject *batch);
