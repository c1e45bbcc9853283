/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - records the batches of an iterator about which nothing else is known.
 *
 * Each call is a wait, its result is a batch, and StopIteration ends the epoch. A call within
 * another one or within a load is part of that: only the outermost is a wait of the training.
 */
#pragma once

#include <stdbool.h>

#include "batch/consumer.h"
#include "python/interpreter/api.h"

/* What is known of an iterator whose workers record their loads. */
#define FOLLOW_NO_TASK UINT32_MAX /* the batch has no known load */

struct follow_crew {
	/* Gathers facts when an epoch begins. Returns false if it has no workers. */
	bool (*gather)(PyObject *iterator, struct consumer_facts *facts);
	/* Returns the task of the batch that the iterator has just delivered. */
	uint32_t (*task)(PyObject *iterator, const struct consumer *consumer);
};

struct follow_what {
	const char *kind;
	const void *loader; /* the loader that made the iterator; only to be compared */
	bool gives_way;     /* if an inner loader is followed, that one counts instead */
	bool only_made;     /* only objects passed to follow_made() are followed */
	bool loads;         /* the asking thread itself loads the batch */
	const struct follow_crew *crew; /* for loads of its workers; NULL: not known */
	bool ahead;	    /* its own thread asks ahead and hands batches on (ahead.h) */
};

/* Returns true in another loader's wait, in a load, and anywhere in a worker. */
bool follow_inside(void);

/* Calls `original` on `object` (NULL: it is a function, not a method), as a wait. */
PyObject *follow_call(const struct follow_what *what, PyObject *object, PyObject *original,
		      PyObject *args, PyObject *kwargs);

/* Calls `original`, an iter(): the object that it returns begins an epoch. */
PyObject *follow_make(const struct follow_what *what, PyObject *original, PyObject *args,
		      PyObject *kwargs);

/* Follows `object` from now on: begins an epoch of it, and drops one that has not ended. */
void follow_made(const struct follow_what *what, PyObject *object);

/* Begins an epoch of `iterator`: steals the reference, and returns a stand-in. */
PyObject *follow_iterator(const struct follow_what *what, PyObject *iterator);
