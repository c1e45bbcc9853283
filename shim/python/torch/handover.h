/* SPDX-License-Identifier: Apache-2.0 */
/* handover.h - follows queues and futures by which threads pass batches on (batch/ahead.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "python/interpreter/api.h"

/* Calls taker_asks(). If that returns true, wraps the queues and futures that are imported. */
bool handover_asks(uint64_t stream);

void handover_took(PyObject *batch);

/* Notes that this thread enters, or leaves, an iterator that is known to hand on batches. */
void handover_within(bool within);
