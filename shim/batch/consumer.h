/* SPDX-License-Identifier: Apache-2.0 */
/* consumer.h - who takes the batches of one iterator: its waits, its batches and their arrival. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "batch/ahead.h"
#include "record/thread.h"

#define CONSUMER_ARRIVAL_MAX 256
#define CONSUMER_WORKERS_UNKNOWN 8 /* of an epoch, so many batches are then not steady */

struct consumer {
	uint64_t stream;
	uint32_t generation;
	uint32_t loader;
	uint32_t epoch;
	int32_t workers;
	bool in_order;
	uint64_t ordinal;	/* of the next batch */
	uint32_t last_task;	/* of the newest arrival */
	/* Batches arrive in any order and are handed out later: when which one came in. */
	struct {
		uint64_t ask_ns;
		uint64_t ns;
		uint32_t task;
		uint32_t generation;
		struct thread_parts parts; /* what was fetched for it */
	} arrivals[CONSUMER_ARRIVAL_MAX];
	uint64_t receive_ns;	/* in this __next__; UINT64_MAX: is not observed */
	bool over;		/* the epoch ended; none has begun since */
	bool skipping;		/* what is asked for now is not handed out */
	struct account *account; /* of whoever asked last; summary.h */
	uint32_t asker;		/* the thread that asked last; 0: nobody has */
	bool pool;		/* any thread of a pool asks, one at a time */
	uint32_t maker;		/* the asker that its epoch is kept by; ahead.h; 0: none */
	bool is_ahead;		/* its epoch was announced for the taker, too */
	bool is_staged;		/* its loader is made of stages; stage.h */
	bool sees_samples;	/* choosing the samples is seen */
	bool sees_fetches;	/* so are descriptors that are fetched */
};

/* What a loader has in it: the dataset, and what says in which order. */
#define CONSUMER_PART_MAX 3

/* What the framework knows of an iterator. */
struct consumer_facts {
	const char *kind;	/* "torch.DataLoader" */
	uint64_t stream;	/* 0: there are no workers, and consumer.c makes a number */
	uint32_t generation;	/* of that stream, to begin with */
	uint32_t first_task;	/* of the epoch, in a pool's stream */
	int32_t workers;
	int32_t prefetch_factor;
	int64_t batch_size;
	uint32_t flags;		/* enum dlprof_epoch_flag */
	const void *dataset;	/* its identity; NULL: not known */
	bool is_loader;		/* that is the loader; it may have several iterators at a time */
	const void *classes[CONSUMER_PART_MAX]; /* of its parts; NULL: not known */
	int64_t length;		/* in samples; -1, 0: not known */
	bool opaque;		/* what happens within a wait is not observed */
	bool sees_samples;	/* as in the consumer, as the next */
	bool sees_fetches;
};

/* For a loader of which only the kind is known, and perhaps the workers. */
#define CONSUMER_OPAQUE                                                                            \
	.prefetch_factor = -1, .batch_size = -1, .flags = DLPROF_EPOCH_OPAQUE, .opaque = true

/* From the constructor: what is called when a loader's epoch ends. */
void consumer_ready(void (*epoch_ended)(const struct consumer *consumer));

/* Whether this process has asked a loader that is followed, rather than marked. */
bool consumer_any(void);

/* Begins to record; waits for another thread that is about to. */
bool consumer_record(void);

/* Begins an epoch. The state is all zero at first but for the numbers of loader and epoch. */
void consumer_begin(struct consumer *consumer, const struct consumer_facts *facts,
		    uint64_t begin_ns);

/* Says where the loader was made, once. */
void consumer_place(const struct consumer *consumer, const char *place);

/* It will not be asked again, whether it came to its end or not. */
void consumer_abandon(struct consumer *consumer);

/* Records the loader again, as its number of workers may have become known. */
void consumer_announce(struct consumer *consumer, const struct consumer_facts *facts,
		       uint64_t begin_ns);

/* What must be put back when a __next__, or an iter(), returns. */
struct consumer_wait {
	struct thread *thread;
	struct account *account; /* NULL: nested, or there is no account */
	uint32_t life;
	bool nested; /* within another wait or a load */
	uint64_t begin_ns;
	uint64_t waited_ns;
	uint64_t stream;
	uint32_t generation;
	uint32_t task;
	struct thread_parts outer; /* of the wait around it */
};

/*
 * Around iter(), which may start workers: a wait, recorded with the epoch that the thread announces
 * next. False: do not call consumer_iter_end().
 */
bool consumer_iter_begin(struct consumer_wait *wait, uint64_t begin_ns);
void consumer_iter_end(struct consumer_wait *wait);

/* The same of an iter() that this thread waited for, where nothing within is followed. */
void consumer_iter_took(struct thread *thread, uint64_t begin_ns, uint64_t ns);

/* __next__ was entered at `begin_ns`, or now (0). False: do not record this one. */
bool consumer_wait_begin(struct consumer *consumer, struct consumer_wait *wait, uint64_t begin_ns);

/* It returned the batch that was asked for as `task`. */
void consumer_wait_end(struct consumer *consumer, struct consumer_wait *wait, uint32_t task);

/* Whether this thread is within a wait or a load, or no thread of the training's at all. */
bool consumer_is_inside(void);

/* How many the training of this process has been handed out, of all loaders. */
uint64_t consumer_delivered(void);

/* It returned no batch: the epoch is over, or it raised. */
void consumer_wait_stop(struct consumer *consumer, struct consumer_wait *wait, bool failed);

/*
 * Around what ends an epoch that the program does not go on with: an iterator is dropped, and its
 * workers are shut down. False: do not call consumer_drop_end().
 */
bool consumer_drop_begin(struct consumer *consumer, struct consumer_wait *wait);
void consumer_drop_end(struct consumer *consumer, struct consumer_wait *wait);

/* Makes another thread's record of a wait this thread's. */
void consumer_hand_on(struct dlprof_event *event, uint64_t begin_ns, uint64_t end_ns);

/* What was kept of the thread's batches (ahead.h) is its own after all. */
void consumer_push_own(struct thread *thread);

/* It returned, and is not recorded. */
void consumer_wait_cancel(struct consumer_wait *wait);

/* A message from a worker is waited for and taken in; task < 0: it carried no batch. */
struct consumer_receive {
	struct thread *thread;
	uint32_t life;
	uint64_t ask_ns;
};

void consumer_receive_begin(struct consumer_receive *receive, struct thread *thread);
void consumer_receive_end(struct consumer *consumer, struct consumer_receive *receive,
			  int64_t task);
