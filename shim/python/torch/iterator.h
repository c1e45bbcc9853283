/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iterator.h - the state of consumer.h for a Python iterator of any framework. It is in a bytearray
 * that the iterator object itself holds, so it lives and dies with it.
 */
#pragma once

#include "batch/consumer.h"
#include "python/interpreter/api.h"

/* Calls what makes an iterator, as iter() does: a wait from `begin_ns` on, or from now (0). */
PyObject *iterator_make(PyObject *original, PyObject *args, PyObject *kwargs, uint64_t begin_ns);

/* Returns an iterator's state, or NULL. It has no stream before its first epoch. */
struct consumer *iterator_state(PyObject *iterator);

/* Sets whether the iterator's batches from now on are skipped, and not delivered. */
void iterator_skip(PyObject *iterator, bool skips);

/*
 * Notes that an iterator over `loader` (NULL: not known) was made or reset. Gives it a state,
 * starts its next epoch and writes the record. NULL: it cannot be recorded.
 */
struct consumer *iterator_epoch(PyObject *iterator, PyObject *loader,
				const struct consumer_facts *facts, uint64_t begin_ns);

/* Starts the next epoch of a state that the caller holds, all zero at first. Needs no GIL. */
void iterator_start(struct consumer *consumer, const struct consumer_facts *facts,
		    uint64_t begin_ns);
