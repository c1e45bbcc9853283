/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - what the join holds in memory: epochs of loaders, and the tasks under way in them. */
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
	bool over;			/* they will not be */
	bool abandoned;			/* its worker ended before it was delivered */
	struct life loader;		/* who loaded it */
	uint32_t round;			/* in which its newest record came, and when about */
	uint64_t since_ns;
	struct held load_held, batch_held;
	struct dlprof_event load, batch;
	bool made_seen;
	struct dlprof_made made;
	uint64_t step_end_ns;
	uint64_t waited_end_ns;
	uint64_t free_ns;		/* of the batch before, after this one was handed out */
	bool parts_seen;
	struct dlprof_parts parts;
};

/*
 * Loads that wait for their batch, in one stream: more than any loader has under way. Where a
 * program tells of loads and never of a batch, none of them would ever be done with.
 */
#define STREAM_MOST ((size_t)16384)

/*
 * One epoch of one loader. Entries are sorted by task; the front part is cut off as it is done,
 * which leaves room before them.
 */
struct stream {
	struct stream *next;
	uint64_t key;
	uint32_t generation;
	bool known;			/* loader_id and epoch are */
	bool closed;			/* nothing more will be delivered */
	uint32_t closed_round;
	struct life consumer;		/* pid 0: not seen */
	uint32_t tid;			/* of its thread */
	int64_t loader_id, epoch;
	bool in_order;
	bool order_unknown;
	struct entry *entries;
	size_t count, capacity;		/* from `entries` on */
	size_t room;			/* before them */
	bool has_last;			/* a batch whose step is not over: */
	uint32_t last_task;
	struct ring *last_ring;
	/* When the thread turned to another epoch since, and had waited in all; 0: it did not. */
	uint64_t left_ns, left_waited_ns;
	/* The same of when the program dropped the iterator; 0: it did not. */
	uint64_t dropped_ns, dropped_waited_ns;
	struct epoch_seen seen;
	bool seen_more; /* than is written */
	struct live_place place;	/* as far as it is told once */
	bool stop_counted;
};

struct join {
	struct writer *writer;
	struct gpu_join *gpu;
	struct live *live;		/* NULL: nobody counts */
	struct sampler *sampler;	/* NULL: no lines of code are looked at */
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

/* The step of its last batch ended, when the thread had waited so long in all for any loader. */
void stream_end_step(struct stream *stream, uint64_t end_ns, uint64_t waited_ns);

/* ... or, as nobody will ask again, when the thread turned to another epoch, if it did. */
void stream_leave(struct stream *stream);

/* Nothing more will be delivered. */
void stream_close(const struct join *join, struct stream *stream);

/* Writes every batch of the stream that is complete. */
int settle_stream(struct join *join, struct stream *stream);
