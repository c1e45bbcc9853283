/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfdata.h - records batches that a graph of TensorFlow fetches without Python, as in Keras' fit().
 *
 * We wrap functions that TensorFlow's waiting thread calls: one before the wait, with an object of
 * the iterator; one after it, with the microseconds waited; one with the batch's bytes (0: end).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "slots/wrap.h"

/* An iterator being made. `many`: one for each of several devices, and a source for these. */
struct tfdata_making {
	struct tfdata_making *outer;
	struct thread *thread; /* NULL: unknown */
	uint32_t life;
	const void *dataset;
	uint64_t begin_ns;
	bool many, ignored;
	bool is_eager;       /* made at once, not by a graph later */
	bool seen;
	uint32_t part_count;
};

void tfdata_make(struct tfdata_making *making, const void *dataset, bool many);
void tfdata_make_end(struct tfdata_making *making);

/* Call these around a loader's call by Python. Iterators asked meanwhile do not count. */
void tfdata_hold(void);
void tfdata_release(void);

/* `iterator` is an address, which may later be that of another iterator. */
void tfdata_made(const void *iterator);
void tfdata_asked(const void *iterator);
void tfdata_waited(uint64_t wait_us);
void tfdata_fetched(int64_t bytes);

/*
 * The program has let go of an iterator, and this thread destroyed it, from `begin_ns` on.
 * TensorFlow then waits for the pipeline's threads, for seconds if it tunes the pipeline. This time
 * is added to the thread's next iter().
 */
void tfdata_dropped(uint64_t begin_ns);

extern HIDDEN const struct wrap_set tfdata_slots;
