/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - records the batches of an iterator of which only the calls are known.
 *
 * Each call is a wait, unless it comes within a load or within another followed call.
 */
#pragma once

#include <stdbool.h>

#include "batch/consumer.h"
#include "python/interpreter/api.h"

#define FOLLOW_NO_TASK UINT32_MAX /* the batch has no known load */

struct follow_crew {
	/* Fills in facts of a loader. Returns false if the iterator has no workers. */
	bool (*gather)(PyObject *iterator, struct consumer_facts *facts);
	uint32_t (*task)(PyObject *iterator, const struct consumer *consumer);
};

struct follow_what {
	const char *kind;
	const void *loader; /* the loader's address, only compared */
	bool gives_way;     /* if a loader inside is followed, only that one counts */
	bool only_made;     /* only objects that follow_made() got are followed */
	bool loads;         /* the thread that asks for a batch also loads it */
	const struct follow_crew *crew; /* NULL: loads of its workers are not known */
	bool ahead;	    /* a thread of the iterator prefetches batches (ahead.h) */
};

/* Calls `original`, and records that as a wait. `object` is NULL for a function. */
PyObject *follow_call(const struct follow_what *what, PyObject *object, PyObject *original,
		      PyObject *args, PyObject *kwargs);

/* Calls `original`, which makes an iterator. That begins an epoch. */
PyObject *follow_make(const struct follow_what *what, PyObject *original, PyObject *args,
		      PyObject *kwargs);

/* Begins an epoch of `object`, and drops its unfinished one. */
void follow_made(const struct follow_what *what, PyObject *object);

/* Begins an epoch. Steals the reference of `iterator`, and returns a stand-in. */
PyObject *follow_iterator(const struct follow_what *what, PyObject *iterator);
