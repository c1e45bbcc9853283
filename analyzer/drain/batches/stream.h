/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - the join's data: the epochs of loaders, each with its unfinished tasks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/gpu/gpu_join.h"
#include "drain/metrics/live.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

/* A record that must stay in its ring: the ring (NULL: no record) and the position in the ring. */
struct held {
	struct ring *ring;
	uint64_t position;
};

struct entry {
	uint32_t task;
	bool loaded, delivered;
	bool stepped;   /* step_end_ns and waited_end_ns are known */
	bool over;      /* the step's end will never be known */
	bool abandoned; /* the worker ended before the batch was delivered */
	struct life loader;
	uint32_t round; /* round of the drain in which the newest record of the task was read */
	uint64_t since_ns;
	struct held load_held, batch_held;
	struct dlprof_event load, batch;
	bool made_seen;
	struct dlprof_made made;
	uint64_t step_end_ns;
	uint64_t waited_end_ns;
	/* time that freeing an older batch took, after this batch had arrived */
	uint64_t free_ns;
	bool parts_seen;
	struct dlprof_parts parts;
};

/* most entries of a stream: a program may mark loads without end, and never take a batch */
#define STREAM_MOST ((size_t)16384)

/* One epoch of a loader. Its entries are sorted by task; free room precedes the first entry. */
struct stream {
	struct stream *next;
	uint64_t key;
	uint32_t generation;
	bool known;  /* loader_id and epoch are known */
	bool closed; /* no more batches will be delivered */
	uint32_t closed_round;
	struct life consumer; /* the life that takes the batches; pid 0: unknown */
	uint32_t tid;
	int64_t loader_id, epoch;
	bool in_order;
	bool order_unknown;
	struct entry *entries;
	/* entries in use, and entries for which there is memory */
	size_t count, capacity;
	size_t room; /* free entries before `entries` */
	/* whether the newest step still goes on, the task of its batch, and its thread's ring */
	bool has_last;
	uint32_t last_task;
	struct ring *last_ring;
	/* when the consumer began another epoch (0: not yet), and its sum of waits until then */
	uint64_t left_ns, left_waited_ns;
	/* when the program dropped the iterator (0: not yet), and the sum of waits until then */
	uint64_t dropped_ns, dropped_waited_ns;
	struct epoch_seen seen;
	bool seen_more;          /* `seen` has facts that the database lacks */
	struct live_place place; /* facts that all batches of the epoch share */
	bool stop_counted;
};

struct join {
	struct writer *writer;
	struct gpu_join gpu;
	struct live *live;
	struct sampler *sampler;
	struct stream *streams; /* the newest one first */
	uint32_t round;
	uint64_t now_ns;
	size_t rows;
	bool finishing;
};

/* Return an entry; it is valid until the next entry_make(). NULL: no such task, or no memory. */
struct entry *entry_find(struct stream *stream, uint32_t task);
struct entry *entry_make(struct stream *stream, uint32_t task);
void entry_remove(struct stream *stream, struct entry *entry);

struct stream *stream_new(uint64_t key, uint32_t generation);
void stream_free(struct stream *stream);

/* Ends the newest step. `waited_ns`: the sum of the thread's waits until the step's end. */
void stream_end_step(struct stream *stream, uint64_t end_ns, uint64_t waited_ns);

void stream_leave(struct stream *stream);

void stream_close(const struct join *join, struct stream *stream);

int settle_stream(struct join *join, struct stream *stream);
