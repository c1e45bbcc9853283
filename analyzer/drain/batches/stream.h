/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - what the join keeps in memory: epochs of loaders, and their tasks under way. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/metrics/live.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

/* A record in a ring; ring == NULL: there is none. */
struct held {
	struct ring *ring;
	uint64_t position;
};

/* What is known of one task. */
struct entry {
	uint32_t task;
	bool loaded, delivered;
	bool stepped;			/* step_end_ns and waited_end_ns are known */
	bool over;			/* step_end_ns and waited_end_ns will stay unknown */
	bool abandoned;			/* its worker ended before it was delivered */
	struct life loader;		/* the life that loaded it */
	uint32_t round;			/* round in which its newest record came, and about when */
	uint64_t since_ns;
	struct held load_held, batch_held;
	struct dlprof_event load, batch;
	bool made_seen;
	struct dlprof_made made;
	uint64_t step_end_ns;
	uint64_t waited_end_ns;
	uint64_t free_ns;		/* time of freeing the batch before, once this one was in
					 * hand */
	bool parts_seen;
	struct dlprof_parts parts;
};

/*
 * The most loads of a stream that wait for their batch: more than any loader has under way. A
 * program that marks loads and never a batch would keep all of them.
 */
#define STREAM_MOST ((size_t)16384)

/*
 * One epoch of one loader. Entries are sorted by task; the ones in front are cut off when they are
 * done, which leaves room before the others.
 */
struct stream {
	struct stream *next;
	uint64_t key;
	uint32_t generation;
	bool known;			/* loader_id and epoch are known */
	bool closed;			/* nothing more will be delivered */
	uint32_t closed_round;
	struct life consumer;		/* pid 0: not seen */
	uint32_t tid;			/* thread of the consumer */
	int64_t loader_id, epoch;
	bool in_order;
	bool order_unknown;
	struct entry *entries;
	size_t count, capacity;		/* count from `entries` on */
	size_t room;			/* free entries before `entries` */
	bool has_last;			/* the last batch's step is not over; it is: */
	uint32_t last_task;
	struct ring *last_ring;
	/* When the thread turned to another epoch, and its waits in all by then; 0: it did not. */
	uint64_t left_ns, left_waited_ns;
	/* When the program dropped the iterator, and the waits by then; 0: it did not. */
	uint64_t dropped_ns, dropped_waited_ns;
	struct epoch_seen seen;
	bool seen_more; /* more is known than is written */
	struct live_place place;	/* the part that does not change */
	bool stop_counted;
};

struct join {
	struct writer *writer;
	struct gpu_join *gpu;
	struct live *live;		/* NULL: no metrics are wanted */
	struct sampler *sampler;	/* NULL: no lines are sampled */
	struct stream *streams;		/* newest first */
	uint32_t round;
	uint64_t now_ns;
	size_t rows;
	bool finishing;
};

/* The entry of a task, or NULL; entry_make() adds it. Both hold until the next entry_make(). */
struct entry *entry_find(struct stream *stream, uint32_t task);
struct entry *entry_make(struct stream *stream, uint32_t task);
void entry_remove(struct stream *stream, struct entry *entry);

struct stream *stream_new(uint64_t key, uint32_t generation);
void stream_free(struct stream *stream);

/* Ends the step of the last batch, when the thread had waited so long in all for any loader. */
void stream_end_step(struct stream *stream, uint64_t end_ns, uint64_t waited_ns);

/* Ends the last step when the thread turned to another epoch, if it did: nobody will ask again. */
void stream_leave(struct stream *stream);

/* Closes the stream: no more will be delivered. */
void stream_close(const struct join *join, struct stream *stream);

/* Writes every batch of the stream that is complete. */
int settle_stream(struct join *join, struct stream *stream);
