/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - makes batches of records: joins what a worker and what the consumer recorded of a task.
 *
 * A worker's and a consumer's record name a task by stream (the inode of the result pipe),
 * generation and task number. A record stays in its ring until its row is written, so the join may
 * be dropped at any time and made again from the rings.
 *
 * A batch is written when its step is over (the consumer asked for the next one) and all rings were
 * read once more after its record: whatever was finished before the consumer asked has been read by
 * then, so queue depth and head-of-line time are right.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct join;
struct live;
struct sampler;

/* Opens a join. `live` counts its rows; `sampler` learns what threads did. Both may be NULL. */
int join_open(struct writer *writer, struct live *live, struct sampler *sampler,
	      struct join **ret_join);
void join_close(struct join *join);

/* Takes one record, as a callback of segment_read(); `context` is the join. */
int join_take(void *context, struct segment *segment, struct ring *ring, uint64_t position,
	      struct dlprof_event *event);

/* Ends a round over all rings: writes the batches that are complete. *ret_rows: their number. */
int join_round(struct join *join, size_t *ret_rows);

/* Ends a life of which all records were taken: no batch waits for its records any more. */
void join_life_ended(struct join *join, const struct life *life);

/* Ends the run: writes everything that is left, complete or not. */
int join_finish(struct join *join);

/*
 * Sets `release` of every ring of the segment to the oldest record that is still needed. Called for
 * all segments of the run before any of them is published.
 */
void join_release(const struct join *join, struct segment *segment);

/* Forgets a segment, before it is closed. */
void join_forget(struct join *join, const struct segment *segment);
