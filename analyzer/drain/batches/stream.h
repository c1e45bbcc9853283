/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - holds the join's data: the epochs of loaders, each with its unfinished tasks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/metrics/live.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

/* A record that must stay in its ring, by its position there. ring == NULL: no record. */
struct held {
	struct ring *ring;
	uint64_t position;
};

struct entry {
	uint32_t task;
	bool loaded, delivered;
	bool stepped;   /* step_end_ns and waited_end_ns are known */
	bool over;      /* step_end_ns and waited_end_ns will never be known */
	bool abandoned; /* the worker ended before the batch was delivered */
	struct life loader;
	uint32_t round; /* the drain's round in which the task's newest record was read */
	uint64_t since_ns;
	struct held load_held, batch_held;
	struct dlprof_event load, batch;
	bool made_seen;
	struct dlprof_made made;
	uint64_t step_end_ns;
	uint64_t waited_end_ns;
	/* how long it took to free an older batch's memory after this batch had arrived */
	uint64_t free_ns;
	bool parts_seen;
	struct dlprof_parts parts;
};

/* most entries of a stream, as a program may mark loads for ever, but never a batch */
#define STREAM_MOST ((size_t)16384)

/* One epoch of one loader. Entries are sorted by task, with free room before the first. */
struct stream {
	struct stream *next;
	uint64_t key;
	uint32_t generation;
	bool known;  /* loader_id and epoch are known */
	bool closed; /* nothing more will be delivered */
	uint32_t closed_round;
	struct life consumer; /* life that takes the batches; pid 0: unknown */
	uint32_t tid;
	int64_t loader_id, epoch;
	bool in_order;
	bool order_unknown;
	struct entry *entries;
	/* number of entries in use; number for which there is memory */
	size_t count, capacity;
	size_t room; /* free entries before `entries` */
	/* has_last: the newest step is not over; last_*: that step's batch and its thread's ring */
	bool has_last;
	uint32_t last_task;
	struct ring *last_ring;
	/* when the thread began another epoch (0: not yet), and the thread's sum of waits then */
	uint64_t left_ns, left_waited_ns;
	/* when the program dropped the iterator (0: not yet), and the thread's sum of waits then */
	uint64_t dropped_ns, dropped_waited_ns;
	struct epoch_seen seen;
	bool seen_more;          /* `seen` has facts that the database lacks */
	struct live_place place; /* facts that all batches of the epoch share */
	bool stop_counted;
};

struct join {
	struct writer *writer;
	struct gpu_join *gpu;
	struct live *live;
	struct sampler *sampler;
	struct stream *streams; /* the newest one first */
	uint32_t round;
	uint64_t now_ns;
	size_t rows;
	bool finishing;
};

/* Return an entry, valid until the next entry_make(). NULL: no such task, or no memory. */
struct entry *entry_find(struct stream *stream, uint32_t task);
struct entry *entry_make(struct stream *stream, uint32_t task);
void entry_remove(struct stream *stream, struct entry *entry);

struct stream *stream_new(uint64_t key, uint32_t generation);
void stream_free(struct stream *stream);

/* Ends the newest step. `waited_ns` is the thread's sum of waits at the step's end. */
void stream_end_step(struct stream *stream, uint64_t end_ns, uint64_t waited_ns);

void stream_leave(struct stream *stream);

void stream_close(const struct join *join, struct stream *stream);

int settle_stream(struct join *join, struct stream *stream);
