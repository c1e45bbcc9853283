/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - records the batches of an iterator of which we only know that it returns them.
 *
 * Each call is a wait, its result is a batch, StopIteration ends the epoch. Calls within another's,
 * or within a load, are part of that: only the outermost is a wait of the training.
 */
#pragma once

#include <stdbool.h>

#include "batch/consumer.h"
#include "python/interpreter/api.h"

/* What is known of an iterator whose workers record what they load. */
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
	bool gives_way;     /* an inner loader is followed instead, once it is known */
	bool only_made;     /* only objects given to follow_made() are followed */
	bool loads;         /* loads the batch itself, in the thread that asks */
	const struct follow_crew *crew; /* its workers' loads; NULL: not known */
	bool ahead;	    /* it has a thread that asks ahead, and hands batches on (ahead.h) */
};

/* Whether this thread is in another loader's wait, or in a load, as a worker always is. */
bool follow_inside(void);

/* Calls `original` on `object`, as a wait; NULL: it is a function, not a method. */
PyObject *follow_call(const struct follow_what *what, PyObject *object, PyObject *original,
		      PyObject *args, PyObject *kwargs);

/* Calls `original`, which is iter(): an epoch of the object that it returns begins. */
PyObject *follow_make(const struct follow_what *what, PyObject *original, PyObject *args,
		      PyObject *kwargs);

/* Follows `object` from now on: an epoch of it begins, and one that has not ended is given up. */
void follow_made(const struct follow_what *what, PyObject *object);

/* Begins a new epoch of `iterator`: takes it, and returns its stand-in. */
PyObject *follow_iterator(const struct follow_what *what, PyObject *iterator);
