/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.h - queues and futures, through which one thread gets what another took from a loader.
 *
 * queue.Queue and concurrent.futures.Future are left as they are until a thread other than the main
 * one asks a loader. What they are called for is batch/ahead.h's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "python/interpreter/api.h"

/* taker_asks(), and from then on it is seen what the thread does with the batch. */
bool handover_asks(uint64_t stream);

/* ... which is this one. */
void handover_took(PyObject *batch);

/* This thread asks, or has asked, an iterator of a library that hands on batches. */
void handover_within(bool within);
