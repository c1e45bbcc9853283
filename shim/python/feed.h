/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - a loader known by its pipes alone, seen from the process that asks: tasks that went out,
 * results that came in, and from these the waits and the batches that were handed out.
 *
 * All under the lock of pipes.c. Pipes are named by their inodes.
 */
#ifndef FEED_H
#define FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/consumer.h"

#define FEED_WORKER_MAX 128
#define FEED_HELD_MAX   1024 /* results that came before their turn, at most */

enum feed_held {
	FEED_NOT,
	FEED_BATCH,
	FEED_PASSED, /* no batch: a worker's iterable is at its end */
};

struct feed {
	uint64_t result;                 /* 0: not seen yet */
	uint64_t index[FEED_WORKER_MAX]; /* of worker 0, 1, ...; 0: not seen yet */
	uint8_t owner[FEED_HELD_MAX];    /* which worker a number was sent to */
	uint32_t sent;                   /* highest number sent, + 1 */
	uint32_t workers, announced;
	uint32_t limit; /* of workers, by a second task of one; 0: not known */
	uint32_t ends;  /* workers that were told to end */
	bool told[FEED_WORKER_MAX];
	uint32_t want;  /* number of the batch that is to be handed out next */
	uint8_t held[FEED_HELD_MAX];
	uint64_t ended_ns;     /* its workers were told to end, or to begin again */
	uint64_t delivered_ns; /* end of the last wait */
	size_t left_bytes;     /* of the message that is coming in */
	uint32_t incoming;
	bool again; /* the same workers, another epoch */
	bool begun;
	bool elsewhere; /* a thread that is not the one that waits takes in the results */
	bool waiting;
	bool answered; /* what came last was no result: the wait for one begins after it */
	struct consumer_wait wait;
	struct consumer consumer;
};

/* A forked child begins without its parent's. */
void feed_reset(void);

/* A task went out by that pipe, or the message that a worker is to end. */
void feed_sent(uint64_t pipe, uint32_t number);
void feed_told_to_end(uint64_t pipe);

/* Whose results come by that pipe; the oldest one of which none was seen yet; or NULL. */
struct feed *feed_of_result(uint64_t pipe);
struct feed *feed_fresh(void);

/* Whether this process has any, and messages of theirs of which a part is still to come. */
bool feed_any(void);
bool feed_partial(void);

/* Somebody has waited for a result since `now_ns`. Only while the process records. */
void feed_ask(struct feed *feed, uint64_t now_ns);

/*
 * A thread of the loader's sends each worker its tasks, and a result may come before the last of
 * these threads has started. Until some worker was sent a second task the number of workers is not
 * sure; with a prefetch_factor of 1, or fewer batches than that, it is not before the first result.
 */
bool feed_needs_tasks(const struct feed *feed);
void feed_has_late_tasks(void);

/* What came is no result: persistent workers say that they begin again. */
void feed_answered(struct feed *feed);

/* `count` of the `size` bytes of the result of that number are in memory; then more of them. */
void feed_begins(struct feed *feed, uint32_t number, enum feed_held what, size_t count,
		 size_t size);
void feed_goes_on(struct feed *feed, size_t count);

/* Epochs whose workers were told to end are over. */
void feed_end_epochs(void);

#endif
