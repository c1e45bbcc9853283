/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - makes batches from records: joins the worker's and the consumer's records of a task.
 *
 * Both records name the task by stream (the inode of the result pipe), generation and task number.
 * A record stays in its ring until its row is written, so the join can be dropped at any time and
 * made again from the rings.
 *
 * A batch is written when its step is over (the consumer asked for the next one), and when all
 * rings have been read once more since then. By then every load that ended before the consumer
 * asked has been read, so queue depth and head-of-line time are right.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct join;
struct live;
struct sampler;

/* Opens a join. It counts rows in `live` and reports threads to `sampler`; both may be NULL. */
int join_open(struct writer *writer, struct live *live, struct sampler *sampler,
	      struct join **ret_join);
void join_close(struct join *join);

/* Takes a record; a callback of segment_read(). `context` is the join. */
int join_take(void *context, struct segment *segment, struct ring *ring, uint64_t position,
	      struct dlprof_event *event);

/* Ends a round over all rings: writes the batches that are complete. *ret_rows: their number. */
int join_round(struct join *join, size_t *ret_rows);

/* Notes that a life has ended and all its records were taken: no batch waits for them any more. */
void join_life_ended(struct join *join, const struct life *life);

/* Ends the run: writes everything that is left, complete or not. */
int join_finish(struct join *join);

/*
 * Sets `release` of every ring in the segment to the oldest record that is still needed. Must be
 * called for all segments of the run before any of them is published.
 */
void join_release(const struct join *join, struct segment *segment);

/* Forgets a segment that is about to be closed. */
void join_forget(struct join *join, const struct segment *segment);
