/* SPDX-License-Identifier: Apache-2.0 */
/* handover.h - follows queues and futures that pass on batches between threads (batch/ahead.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "python/interpreter/api.h"

/* Does taker_asks(), and follows queues and futures if that returns true. */
bool handover_asks(uint64_t stream);

void handover_took(PyObject *batch);

/* Called around asking an iterator that is known to hand on batches. */
void handover_within(bool within);
