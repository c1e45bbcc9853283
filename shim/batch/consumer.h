/* SPDX-License-Identifier: Apache-2.0 */
/* consumer.h - records how one iterator of a loader is used: waits, batches, and their arrivals. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "batch/ahead.h"
#include "record/thread.h"

#define CONSUMER_ARRIVAL_MAX 256
#define CONSUMER_WORKERS_UNKNOWN 8 /* an unknown number counts as some workers, not as none */

struct consumer {
	uint64_t stream;
	uint32_t generation;
	uint32_t loader;
	uint32_t epoch;
	int32_t workers;
	bool in_order;
	uint64_t ordinal;	/* ordinal of the next batch */
	uint32_t last_task;	/* task of the newest arrival */
	/* When each batch arrived, by its task: batches may arrive in any order. */
	struct {
		uint64_t ask_ns;
		uint64_t ns;
		uint32_t task;
		uint32_t generation;
		struct thread_parts parts; /* loads of the batch's tensors at its arrival */
	} arrivals[CONSUMER_ARRIVAL_MAX];
	uint64_t receive_ns;	/* receive time of this __next__; UINT64_MAX: not observed */
	bool over;		/* the epoch has ended, and no other one has begun */
	bool skipping;		/* the batches skip samples, and are not delivered */
	struct account *account; /* account of the thread that asked last; summary.h */
	uint32_t asker;		/* tid of the thread that asked last; 0: none has */
	bool pool;		/* threads of a pool ask, one at a time */
	uint32_t maker;		/* asker that keeps the iterator's EPOCH; ahead.h; 0: none */
	bool is_ahead;		/* the EPOCH was announced for the taker, too; ahead.h */
	bool is_staged;		/* the loader is made of stages; stage.h */
	bool sees_samples;	/* time of choosing samples is observed */
	bool sees_fetches;	/* fetching of tensors by their descriptors is observed */
};

/* Parts of a loader whose classes identify it: the dataset, and what chooses its samples. */
#define CONSUMER_PART_MAX 3

/* Facts about an iterator that the framework knows. */
struct consumer_facts {
	const char *kind;	/* "torch.DataLoader" */
	uint64_t stream;	/* 0: no workers, so consumer.c makes a number */
	uint32_t generation;	/* first generation of that stream */
	uint32_t first_task;	/* the epoch's first task in a pool's stream */
	int32_t workers;
	int32_t prefetch_factor;
	int64_t batch_size;
	uint32_t flags;		/* enum dlprof_epoch_flag */
	const void *dataset;	/* address that identifies the dataset; NULL: not known */
	bool is_loader;		/* `dataset` is the loader, which may have several iterators */
	const void *classes[CONSUMER_PART_MAX]; /* classes of the loader's parts; NULL: not known */
	int64_t length;		/* samples in an epoch; -1, 0: not known */
	bool opaque;		/* nothing within a wait is observed */
	bool sees_samples;	/* as in struct consumer, like sees_fetches */
	bool sees_fetches;
};

/* Facts of a loader about which only its kind, and perhaps its number of workers, is known. */
#define CONSUMER_OPAQUE                                                                            \
	.prefetch_factor = -1, .batch_size = -1, .flags = DLPROF_EPOCH_OPAQUE, .opaque = true

/* Sets the function to call when an epoch ends; called by the constructor. */
void consumer_ready(void (*epoch_ended)(const struct consumer *consumer));

/* Returns true if this process has asked a loader that is followed, not one marked by dlprof.h. */
bool consumer_any(void);

/* Begins to record; waits if another thread is about to. Returns false if that failed. */
bool consumer_record(void);

/* Begins an epoch. At first *consumer must be all zero except for `loader` and `epoch`. */
void consumer_begin(struct consumer *consumer, const struct consumer_facts *facts,
		    uint64_t begin_ns);

/* Records where the program made the loader. */
void consumer_place(const struct consumer *consumer, const char *place);

/* Notes that the iterator will not be asked again, at its end or before. */
void consumer_abandon(struct consumer *consumer);

/* Records the EPOCH, perhaps again when its number of workers has become known. */
void consumer_announce(struct consumer *consumer, const struct consumer_facts *facts,
		       uint64_t begin_ns);

/* State to put back when a __next__ or iter() returns. */
struct consumer_wait {
	struct thread *thread;
	struct account *account; /* NULL: the wait is nested, or there is no account */
	uint32_t life;
	bool nested; /* within another wait or a load, or in a worker */
	uint64_t begin_ns;
	uint64_t waited_ns;
	uint64_t stream;
	uint32_t generation;
	uint32_t task;
	struct thread_parts outer; /* parts of the wait around this one */
};

/*
 * Called around iter(), which may start workers. The time is a wait, recorded with the next EPOCH
 * of the thread. If consumer_iter_begin() returns false, do not call consumer_iter_end().
 */
bool consumer_iter_begin(struct consumer_wait *wait, uint64_t begin_ns);
void consumer_iter_end(struct consumer_wait *wait);

/* Records an iter() for which this thread waited `ns`, where nothing within is followed. */
void consumer_iter_took(struct thread *thread, uint64_t begin_ns, uint64_t ns);

/* Begins a wait in __next__, entered at `begin_ns` (0: now). Returns false if it does not count. */
bool consumer_wait_begin(struct consumer *consumer, struct consumer_wait *wait, uint64_t begin_ns);

/* Ends the wait: __next__ returned the batch of task number `task`. */
void consumer_wait_end(struct consumer *consumer, struct consumer_wait *wait, uint32_t task);

/* Returns true if this thread is in a wait or a load, or belongs to a worker. */
bool consumer_is_inside(void);

/* Returns how many batches this process's training has got, from all loaders together. */
uint64_t consumer_delivered(void);

/* Ends the wait without a batch: the epoch is over, or (`failed`) __next__ raised an exception. */
void consumer_wait_stop(struct consumer *consumer, struct consumer_wait *wait, bool failed);

/*
 * Called around the end of an iterator that the program drops before its end, which shuts down the
 * workers. If consumer_drop_begin() returns false, do not call consumer_drop_end().
 */
bool consumer_drop_begin(struct consumer *consumer, struct consumer_wait *wait);
void consumer_drop_end(struct consumer *consumer, struct consumer_wait *wait);

/* Records a wait that another thread recorded (ahead.h) as a wait of this thread. */
void consumer_hand_on(struct dlprof_event *event, uint64_t begin_ns, uint64_t end_ns);

/* Records what ahead.h kept of a thread that turned out to train itself. */
void consumer_push_own(struct thread *thread);

/* Ends the wait without a record. */
void consumer_wait_cancel(struct consumer_wait *wait);

/* Receiving a message from a worker. task < 0: the message carried no batch. */
struct consumer_receive {
	struct thread *thread;
	uint32_t life;
	uint64_t ask_ns;
};

void consumer_receive_begin(struct consumer_receive *receive, struct thread *thread);
void consumer_receive_end(struct consumer *consumer, struct consumer_receive *receive,
			  int64_t task);
