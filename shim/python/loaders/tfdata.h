/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfdata.h - batches that a graph of TensorFlow's fetches, as Keras' fit() does, past Python.
 *
 * TensorFlow counts for its own statistics how long each of its iterators was asked for an element.
 * It does so by calls that we can see, on the thread that waits: one that begins, of an object that
 * each iterator has of its own and that is made with it, and two when it is done, first the
 * microseconds, then the bytes, 0 if there was no element any more.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "slots/wrap.h"

/*
 * An iterator over `dataset` is being made in Python, by this thread: begin to record. `many`: what
 * is made are the iterators of several devices, which get a part of each batch, and one behind
 * them.
 */
struct tfdata_making {
	struct tfdata_making *outer;
	struct thread *thread; /* NULL: it is not known who makes it */
	uint32_t life;
	const void *dataset;
	uint64_t begin_ns;
	bool many, ignored;
	bool is_eager;       /* it is made at once, and not a graph that makes it later */
	bool seen;           /* its object was */
	uint32_t part_count; /* that were begun within */
};

/* With the GIL. */
void tfdata_make(struct tfdata_making *making, const void *dataset, bool many);
void tfdata_make_end(struct tfdata_making *making);

/* A loader that is followed in Python is asked, or was: what it asks for in turn is its own affair.
 */
void tfdata_hold(void);
void tfdata_release(void);

/* The calls. `iterator`: the address of its object, which that of another may be later. */
void tfdata_made(const void *iterator);
void tfdata_asked(const void *iterator);
void tfdata_waited(uint64_t wait_us);
void tfdata_fetched(int64_t bytes);

extern HIDDEN const struct wrap_set tfdata_slots;
