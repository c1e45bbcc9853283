/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made.h - measures a batch's tensors and bytes, for a thread's first two loads and every 16th one.
 *
 * This runs no user code, so an object of an unknown class makes the size unknown.
 */
#pragma once

#include "python/interpreter/api.h"
#include "record/thread.h"

/* Called after the batch's load was recorded. Leaves no exception. */
void made_look(struct thread *thread, PyObject *batch);
