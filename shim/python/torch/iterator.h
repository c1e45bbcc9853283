/* SPDX-License-Identifier: Apache-2.0 */
/* iterator.h - keeps the state of a consumer in a bytearray, an attribute of a Python iterator. */
#pragma once

#include "batch/consumer.h"
#include "python/interpreter/api.h"

/* Calls `original`, which makes an iterator. This is a wait that begins at `begin_ns`; 0: now. */
PyObject *iterator_make(PyObject *original, PyObject *args, PyObject *kwargs, uint64_t begin_ns);

/* Calls `original`, which chooses the samples of a batch, and counts its time if this is a wait. */
PyObject *iterator_choose(PyObject *original, PyObject *args, PyObject *kwargs);

/* Returns the iterator's state, or NULL. It has no stream before its first epoch. */
struct consumer *iterator_state(PyObject *iterator);

/* From now on, the iterator's batches are skipped (true) or delivered (false). */
void iterator_skip(PyObject *iterator, bool skips);

/* Begins an epoch, and returns its state; NULL if it cannot be recorded. `loader` may be NULL. */
struct consumer *iterator_epoch(PyObject *iterator, PyObject *loader,
				const struct consumer_facts *facts, uint64_t begin_ns);

/* Does what iterator_epoch() does with a state of the caller's, all zero at first. Needs no GIL. */
void iterator_start(struct consumer *consumer, const struct consumer_facts *facts,
		    uint64_t begin_ns);
