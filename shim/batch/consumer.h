/* SPDX-License-Identifier: Apache-2.0 */
/* consumer.h - records how one iterator of a loader is used: waits, batches and their arrivals. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "batch/ahead.h"
#include "record/thread.h"

#define CONSUMER_ARRIVAL_MAX 256
#define CONSUMER_WORKERS_UNKNOWN 8 /* number of workers assumed if the true number is unknown */

struct consumer {
	uint64_t stream;
	uint32_t generation;
	uint32_t loader;
	uint32_t epoch;
	int32_t workers;
	bool in_order;
	uint64_t ordinal;	/* number of the next batch; batches that nobody gets count, too */
	uint64_t skip_left;	/* number of the next batches that nobody will get */
	uint64_t skip_count;	/* number of this epoch's batches that nobody got */
	uint32_t last_task;
	/* Arrivals by task, as batches may arrive in any order. */
	struct consumer_arrival {
		uint64_t ask_ns, ns;
		uint32_t task, generation;
		struct thread_parts parts; /* fetches of file descriptors of the batch's tensors */
	} arrivals[CONSUMER_ARRIVAL_MAX];
	uint64_t receive_ns;	/* time of receiving in this __next__(); UINT64_MAX: not observed */
	bool over;		/* the epoch has ended, and no other has begun */
	bool skipping;		/* skips batches now, as torchdata asks, and delivers none */
	struct account *account; /* account of the thread that asked last */
	uint32_t asker;		/* tid of the thread that asked last; 0: unknown */
	bool pool;		/* threads of a pool ask in turn */
	uint32_t maker;		/* number of the asker that holds the EPOCH record; 0: none */
	bool is_ahead;
	bool is_staged;
	bool sees_samples;
	bool sees_fetches;
};

/* A loader is identified by at most this many parts: the dataset, and what chooses its samples. */
#define CONSUMER_PART_MAX 3

struct consumer_facts {
	const char *kind;	/* "torch.DataLoader" */
	uint64_t stream;	/* 0: there are no workers, so consumer.c makes a number */
	uint32_t generation;	/* first generation of the stream */
	uint32_t first_task;	/* task of the epoch's first batch, if the stream is a pool's */
	int32_t workers;
	int32_t prefetch_factor;
	int64_t batch_size;
	uint32_t flags;
	const void *dataset;	/* address of the dataset, only compared; NULL: unknown */
	bool is_loader;		/* `dataset` is the loader itself: it may have several iterators */
	const void *classes[CONSUMER_PART_MAX]; /* classes of the loader's parts; NULL: unknown */
	int64_t length;		/* number of samples in an epoch; -1, 0: unknown */
	bool opaque;
	bool sees_samples;
	bool sees_fetches;
};

/* Facts of a loader of which only the kind, and perhaps the workers, are known. */
#define CONSUMER_OPAQUE                                                                            \
	.prefetch_factor = -1, .batch_size = -1, .flags = DLPROF_EPOCH_OPAQUE, .opaque = true

/* Sets the function that is called at each epoch's end. The constructor calls this. */
void consumer_ready(void (*epoch_ended)(const struct consumer *consumer));

/* Returns true if the program asked a loader other than the marks of dlprof.h. */
bool consumer_any(void);

/* Starts recording, once in a process. Returns false if that failed. */
bool consumer_record(void);

/* Begins an epoch. Before the first epoch, *consumer is zero, but for `loader` and `epoch`. */
void consumer_begin(struct consumer *consumer, const struct consumer_facts *facts,
		    uint64_t begin_ns);

void consumer_place(const struct consumer *consumer, const char *place);

/* Ends the epoch of an iterator that will not be asked again. */
void consumer_abandon(struct consumer *consumer);

/* Writes the EPOCH record. Call it again when the number of workers has become known. */
void consumer_announce(struct consumer *consumer, const struct consumer_facts *facts,
		       uint64_t begin_ns);

struct consumer_wait {
	struct thread *thread;
	struct account *account; /* NULL: the wait is nested, or there is no account */
	uint32_t life;
	bool nested;
	uint64_t begin_ns;
	uint64_t waited_ns;
	struct thread_load load;   /* what the thread loaded before the wait */
	struct thread_parts outer; /* parts of the wait around this one */
};

/* Times an iter() as a wait. After false, do not call consumer_iter_end(). */
bool consumer_iter_begin(struct consumer_wait *wait, uint64_t begin_ns);
void consumer_iter_end(struct consumer_wait *wait);

/* Records an iter() that took `ns`. Nothing was observed inside it. */
void consumer_iter_took(struct thread *thread, uint64_t begin_ns, uint64_t ns);

/* Begins a wait in __next__() at `begin_ns` (0: now). Returns false if it cannot be recorded. */
bool consumer_wait_begin(struct consumer *consumer, struct consumer_wait *wait, uint64_t begin_ns);

void consumer_wait_end(struct consumer *consumer, struct consumer_wait *wait, uint32_t task);

/*
 * Ends a wait for a batch that nobody gets. This wait becomes a part of the next wait. Returns the
 * time of all such waits so far; 0: unknown.
 */
uint64_t consumer_wait_skip(struct consumer *consumer, struct consumer_wait *wait);

/* Returns true if this thread waits for a batch, loads one, or belongs to a worker. */
bool consumer_is_inside(void);

uint64_t consumer_delivered(void);

/* Ends a wait without a batch: the epoch is over or, if `failed`, __next__() raised. */
void consumer_wait_stop(struct consumer *consumer, struct consumer_wait *wait, bool failed);

/* Call these around the end of an iterator that the program drops before the epoch's end. */
bool consumer_drop_begin(struct consumer *consumer, struct consumer_wait *wait);
void consumer_drop_end(struct consumer *consumer, struct consumer_wait *wait);

/* Records this thread's wait for a batch. `event` is the asker's record of that batch (ahead.h). */
void consumer_hand_on(struct dlprof_event *event, uint64_t begin_ns, uint64_t end_ns);

void consumer_push_own(struct thread *thread);

void consumer_wait_cancel(struct consumer_wait *wait);

/* A message being received from a worker. task < 0: the message has no batch. */
struct consumer_receive {
	struct thread *thread;
	uint32_t life;
	uint64_t ask_ns;
};

void consumer_receive_begin(struct consumer_receive *receive, struct thread *thread);
void consumer_receive_end(struct consumer *consumer, struct consumer_receive *receive,
			  int64_t task);
