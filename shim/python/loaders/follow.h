/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - record the batches of an iterator when we know nothing except that it returns them.
 *
 * Each call is a wait, what it returns is a batch, StopIteration ends the epoch. Calls within
 * another's, or within a load, are part of that: only the outermost is a wait of the training.
 */
#pragma once

#include <stdbool.h>

#include "batch/consumer.h"
#include "python/interpreter/api.h"

/* What is known of an iterator whose workers record what they load. */
#define FOLLOW_NO_TASK UINT32_MAX /* the batch has no load that is known */

struct follow_crew {
	/* An epoch of it begins. False: it has no workers. */
	bool (*gather)(PyObject *iterator, struct consumer_facts *facts);
	/* Which task the batch was that it just handed out. */
	uint32_t (*task)(PyObject *iterator, const struct consumer *consumer);
};

struct follow_what {
	const char *kind;
	const void *loader; /* which it is of; only to be compared */
	bool gives_way;     /* to what it asks in turn, once that is followed too */
	bool only_made;     /* only objects that follow_made() was called of are followed */
	bool loads;         /* the batch, in the thread that asks */
	const struct follow_crew *crew; /* NULL: none */
	bool ahead;	    /* it has a thread that asks ahead, and hands on (ahead.h) */
};

/* In another's wait, or in a load: also of a worker, whatever it iterates over. */
bool follow_inside(void);

/* A call of `original` on `object`; NULL: it is a function, not a method. */
PyObject *follow_call(const struct follow_what *what, PyObject *object, PyObject *original,
		      PyObject *args, PyObject *kwargs);

/* A call of `original` that is iter(), and an epoch of the object that it returns begins. */
PyObject *follow_make(const struct follow_what *what, PyObject *original, PyObject *args,
		      PyObject *kwargs);

/* A new epoch of an object: follow_call() knows it again, even as another loader's. */
void follow_made(const struct follow_what *what, PyObject *object);

/* A new epoch: takes `iterator`, and returns what stands in for it. */
PyObject *follow_iterator(const struct follow_what *what, PyObject *iterator);
