/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.h - follows queues and futures through which a thread gets what another took from a
 * loader.
 *
 * queue.Queue and concurrent.futures.Future are patched only when a thread other than the main one
 * asks a loader. What their calls mean is decided in batch/ahead.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "python/interpreter/api.h"

/* Does taker_asks(). If that returns true, queues and futures are followed from now on. */
bool handover_asks(uint64_t stream);

/* Notes the batch that this thread got after handover_asks(). */
void handover_took(PyObject *batch);

/* Called before and after this thread asks an iterator of a library known to hand on batches. */
void handover_within(bool within);
