/* SPDX-License-Identifier: Apache-2.0 */
/* handover.h - follows queues and futures that pass on batches between threads (batch/ahead.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "python/interpreter/api.h"

/* Does taker_asks(). If that is true, also wraps queues and futures, as far as imported. */
bool handover_asks(uint64_t stream);

void handover_took(PyObject *batch);

/* Called before and after an iterator is asked that is known to hand on batches. */
void handover_within(bool within);
