/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - makes batches of records: what the worker says of a task, and what the consumer says.
 *
 * Both name a task by stream (the inode of the result pipe), generation and task number. A record
 * stays in its ring until the row that it belongs to is written, so the join may be dropped at any
 * time and made again from the rings.
 *
 * A batch is written when its step is over (the consumer asked again) and a whole round over all
 * rings has passed since its record was taken: whatever was finished before the consumer asked has
 * been read by then, so queue depth and head-of-line time are right.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct join;
struct live;
struct sampler;

/* `live` counts rows, too; `sampler` is told what a thread did when. Either may be NULL. */
int join_open(struct writer *writer, struct live *live, struct sampler *sampler,
	      struct join **ret_join);
void join_close(struct join *join);

/* Takes one record; `context` is the join. For segment_read(). */
int join_take(void *context, struct segment *segment, struct ring *ring, uint64_t position,
	      struct dlprof_event *event);

/* Called when all rings were read once more. Writes what is complete; *ret_rows: how many rows. */
int join_round(struct join *join, size_t *ret_rows);

/* Called when all records of a life were taken and it sends no more: nothing waits for it. */
void join_life_ended(struct join *join, const struct life *life);

/* Ends the run: writes everything that is left, complete or not. */
int join_finish(struct join *join);

/*
 * Sets `release` of every ring of the segment to its oldest record that is still needed. Called for
 * all segments of the run before any of them is published.
 */
void join_release(const struct join *join, struct segment *segment);

/* Forgets a segment that is about to be closed. */
void join_forget(struct join *join, const struct segment *segment);
