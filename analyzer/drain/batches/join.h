/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - makes batches: joins the record of a task's load with the record of its consumer.
 *
 * A record stays in its ring until its row is committed, so that another drain can read it again. A
 * batch is written when its step is over and all rings were read once more. By then all loads are
 * known that ended before the consumer asked for the batch.
 */
#pragma once

#include <stddef.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct join;
struct live;
struct sampler;

/* Opens a join. `live` and `sampler` may be NULL. */
int join_open(struct writer *writer, struct live *live, struct sampler *sampler,
	      struct join **ret_join);
void join_close(struct join *join);

/* Takes a record. segment_read() calls this, with the join as `context`. */
int join_take(void *context, const struct record *record);

/* Writes the complete batches. Call this after all rings were read. */
int join_round(struct join *join, size_t *ret_rows);

void join_life_ended(struct join *join, const struct life *life);

int join_finish(struct join *join);

/* Sets `release` of each ring. Call this for all segments before segment_publish() for any. */
void join_release(const struct join *join, struct segment *segment);

void join_forget(struct join *join, const struct segment *segment);
