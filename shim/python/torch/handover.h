/* SPDX-License-Identifier: Apache-2.0 */
/* handover.h - follows queues and futures by which threads pass batches on (batch/ahead.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "python/interpreter/api.h"

/* Calls taker_asks(). If that returns true, wraps the queues and futures that are imported. */
bool handover_asks(uint64_t stream);

void handover_took(PyObject *batch);

/* Notes that this thread enters, or leaves, an iterator that is known to hand on batches. */
void handover_within(bool within);

/* Times requests by which a training gets tensors' file descriptors from workers. */
void descriptor_patch(PyObject *module, size_t row);

/* true: fetching is not observed, because this Python has another name for the function */
extern HIDDEN bool descriptor_blind;
