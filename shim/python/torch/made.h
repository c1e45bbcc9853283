/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made.h - measures a batch's tensors and bytes, for a thread's first two loads and every 16th.
 *
 * Only objects of exactly known classes are looked at, so no user code runs. Any other object makes
 * the size unknown, never smaller.
 */
#pragma once

#include "python/interpreter/api.h"
#include "record/thread.h"

/* Measures the batch of the load just recorded. Leaves no exception behind. */
void made_look(struct thread *thread, PyObject *batch);
