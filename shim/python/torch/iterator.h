/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iterator.h - keeps consumer.h's state for a Python iterator of any framework. The state is in a
 * bytearray that the iterator object holds, so it lives as long as the iterator.
 */
#pragma once

#include "batch/consumer.h"
#include "python/interpreter/api.h"

/* Calls `original`, which makes an iterator as iter() does: a wait from `begin_ns` (0: now) on. */
PyObject *iterator_make(PyObject *original, PyObject *args, PyObject *kwargs, uint64_t begin_ns);

/* Returns an iterator's state, or NULL. It has no stream before its first epoch. */
struct consumer *iterator_state(PyObject *iterator);

/* Sets whether the iterator's batches are skipped from now on, not delivered. */
void iterator_skip(PyObject *iterator, bool skips);

/*
 * Notes that an iterator over `loader` (NULL: not known) was made or reset: gives it a state,
 * begins its next epoch and writes the record. Returns NULL if it cannot be recorded.
 */
struct consumer *iterator_epoch(PyObject *iterator, PyObject *loader,
				const struct consumer_facts *facts, uint64_t begin_ns);

/* Begins the next epoch of a state that the caller keeps, all zero at first. Needs no GIL. */
void iterator_start(struct consumer *consumer, const struct consumer_facts *facts,
		    uint64_t begin_ns);
