/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iterator.h - the state of consumer.h for a Python iterator, whatever framework made it. It is in
 * a bytearray that the iterator object itself holds, so it lives and dies with it.
 */
#pragma once

#include "batch/consumer.h"
#include "python/interpreter/api.h"

/* Calls what makes an iterator, as iter() does: a wait from `begin_ns` on, or from now (0). */
PyObject *iterator_make(PyObject *original, PyObject *args, PyObject *kwargs, uint64_t begin_ns);

/* The state of an iterator, or NULL if it has none yet. It has no stream until its first epoch. */
struct consumer *iterator_state(PyObject *iterator);

/* Whether the iterator's batches from now on are skipped, rather than handed out. */
void iterator_skip(PyObject *iterator, bool skips);

/*
 * An iterator over `loader` (NULL: not known) was made or reset. Gives it a state, starts its next
 * epoch and writes the record. NULL: it cannot be recorded.
 */
struct consumer *iterator_epoch(PyObject *iterator, PyObject *loader,
				const struct consumer_facts *facts, uint64_t begin_ns);

/* Does the same for a state that the caller keeps, all zero at first. Needs no GIL. */
void iterator_start(struct consumer *consumer, const struct consumer_facts *facts,
		    uint64_t begin_ns);
