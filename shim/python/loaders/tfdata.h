/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfdata.h - records batches that a graph of TensorFlow's fetches, as in Keras' fit(), without
 * Python.
 *
 * TensorFlow counts for its own statistics how long each of its iterators was asked for an element.
 * It does so by calls that we can wrap, on the thread that waits: one at the begin, on an object
 * that each iterator has of its own and that is made with it, and two at the end, first with the
 * microseconds, then with the bytes, 0 if there were no more elements.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "slots/wrap.h"

/*
 * An iterator over `dataset` that this thread is making in Python; also begins to record. `many`:
 * it makes the iterators of several devices, which get a part of each batch, and one behind them.
 */
struct tfdata_making {
	struct tfdata_making *outer;
	struct thread *thread; /* NULL: the maker is not known */
	uint32_t life;
	const void *dataset;
	uint64_t begin_ns;
	bool many, ignored;
	bool is_eager;       /* made at once, and not a graph that makes it later */
	bool seen;           /* the iterator's object was seen */
	uint32_t part_count; /* iterators whose making began within this one */
};

/* Both are called with the GIL. */
void tfdata_make(struct tfdata_making *making, const void *dataset, bool many);
void tfdata_make_end(struct tfdata_making *making);

/*
 * A loader followed in Python is asked, until tfdata_release(): what it asks in turn is not
 * recorded.
 */
void tfdata_hold(void);
void tfdata_release(void);

/* TensorFlow's calls. `iterator`: address of its object, which another's may get later. */
void tfdata_made(const void *iterator);
void tfdata_asked(const void *iterator);
void tfdata_waited(uint64_t wait_us);
void tfdata_fetched(int64_t bytes);

extern HIDDEN const struct wrap_set tfdata_slots;
