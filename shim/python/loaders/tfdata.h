/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfdata.h - records batches that a graph of TensorFlow fetches without Python, as in Keras' fit().
 *
 * TensorFlow measures for its own statistics how long each of its iterators was asked for an
 * element. It does so by calls that we can wrap, in the thread that waits: one at the begin, on an
 * object that is made with each iterator, and two at the end, first with the microseconds, then
 * with the bytes, which are 0 if there were no more elements.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "slots/wrap.h"

/*
 * Making an iterator over `dataset` in this thread, in Python. tfdata_make() also begins to record.
 * `many`: one iterator is made for each of several devices, which get a part of each batch, and one
 * from which these take.
 */
struct tfdata_making {
	struct tfdata_making *outer;
	struct thread *thread; /* NULL: the thread is not known */
	uint32_t life;
	const void *dataset;
	uint64_t begin_ns;
	bool many, ignored;
	bool is_eager;       /* made at once, not by a graph later */
	bool seen;           /* the iterator's object was seen */
	uint32_t part_count; /* iterators whose making began within this one */
};

/* Both are called with the GIL. */
void tfdata_make(struct tfdata_making *making, const void *dataset, bool many);
void tfdata_make_end(struct tfdata_making *making);

/*
 * Called around a call of a loader that is followed in Python: iterators that it asks meanwhile are
 * not recorded.
 */
void tfdata_hold(void);
void tfdata_release(void);

/* TensorFlow's calls. `iterator`: address of its object, which another one may get later. */
void tfdata_made(const void *iterator);
void tfdata_asked(const void *iterator);
void tfdata_waited(uint64_t wait_us);
void tfdata_fetched(int64_t bytes);

extern HIDDEN const struct wrap_set tfdata_slots;
