/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h - reads what a recording process wrote, and believes none of it.
 *
 * The file is read with pread(), never mapped: one that is cut short meanwhile ends a read early
 * instead of killing us. Functions return 0 or a negative errno.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlprof/segment.h"
#include "drain/segments/alive.h"

/* One thread's ring. A record is released once its row is in the database. */
struct ring {
	uint32_t tid;		/* 0: its thread has ended, or there was none */
	bool used;		/* a thread has had it */
	uint64_t read;		/* next record to read */
	uint64_t release;	/* records below may be overwritten, once that is published */
	uint64_t published;	/* `tail` as the file has it */
	uint64_t lost_count;
	uint64_t head;		/* head as last read */
	uint64_t far_from;	/* does not change once it is not 0 */
	uint64_t told[DLPROF_TALLY_COUNT];	/* totals.c: state of each tally in the database */
};

/* A program that a process is, or was until execve(). */
struct life {
	int32_t pid; /* 0: none */
	uint64_t begun_ns;
};

static inline bool life_is(const struct life *one, const struct life *other)
{
	return one->pid == other->pid && one->begun_ns == other->begun_ns;
}

/* What is known of a segment, and, by the module that writes them, what others note of it. */
struct segment {
	char name[64];
	int fd;
	struct alive alive;
	bool apart;		/* gather.c: its folder was removed */
	bool dead;		/* its life ended; no more will be written */
	uint64_t left_ns;	/* when the process was seen to be another program; 0: it is not */
	uint64_t later_ns;	/* gather.c: when its next life began to record; 0: there is none */
	int exit_status;	/* exit status, as of waitpid(); -1: not known */
	bool lived;		/* it lived at the last look */
	uint64_t gone_ns;	/* when it was seen to be gone; 0: it was never seen to live */
	bool looked;		/* all its rings were looked at once */
	struct {		/* batches/join.c: what the database has of its process */
		const char *role; /* NULL: none yet */
		int64_t worker_id; /* UNKNOWN: no worker's */
		uint64_t batch_ns; /* when its newest batch was in hand; 0: none was */
		double loaded_ns;  /* sum of its loads */
	} joined;
	struct {		/* database/facts.c: what the database has of it */
		bool ended;	/* its end */
		int64_t lost;	/* number of losses */
		uint32_t notes_read; /* notes up to here */
	} told;
	struct {		/* batches/totals.c: what the totals have of it */
		bool folded;	/* its tallies */
		uint64_t unlisted[2]; /* counts of segment_read_unlisted() */
	} totals;
	struct {		/* modules/hidden.c: when to look at its modules again */
		uint64_t at_ns, wait_ns;
	} look;
	uint8_t stack_tries[DLPROF_STACK_COUNT]; /* modules/stacks.c: looks for the record of each
						  * stack */
	uint64_t beat_ns;	/* last beat given to the process */
	struct dlprof_header *header;	/* a copy of the file's */
	struct ring rings[DLPROF_SLOT_COUNT];
};

static inline struct life segment_life(const struct segment *segment)
{
	return (struct life){segment->header->pid, segment->header->created_ns};
}

/*
 * Opens `name` in the folder. -EPERM: it is not ours. -EBADMSG: it is no segment of this version,
 * or cut short.
 */
int segment_open(int folder, const char *name, struct segment **ret_segment);
void segment_close(struct segment *segment);

/*
 * Whether the life has ended; `is_root_gone`: the run's first process has. True once: from then on
 * everything that it wrote can be read.
 */
bool segment_poll(struct segment *segment, bool is_root_gone);

/* Reads the header again: notes, losses, the end mark. */
int segment_refresh(struct segment *segment);

/*
 * Hands each new record of every ring to `take`, oldest first in a ring, with its position.
 * *ret_taken: how many. A negative result of `take` ends it and is returned.
 */
int segment_read(struct segment *segment,
		 int (*take)(void *context, struct segment *segment, struct ring *ring,
			     uint64_t position, struct dlprof_event *event),
		 void *context, size_t *ret_taken);

/* Whether a ring has much to read, or has a thread that is not known yet. */
bool segment_is_filling(struct segment *segment);

/* Reads all tallies of a slot as they are. */
int segment_read_tallies(const struct segment *segment, size_t slot,
			 struct dlprof_tally tallies[DLPROF_TALLY_COUNT]);

/* Reads a stack to be unwound; *ret_full: there is one. segment_free_stack() gives it back. */
int segment_read_stack(const struct segment *segment, size_t place, struct dlprof_stack *stack,
		       bool *ret_full);
int segment_free_stack(const struct segment *segment, size_t place);

/* Reads the counts of operations without a tally, and of slow ones, that a slot could not list. */
int segment_read_unlisted(const struct segment *segment, size_t slot, uint64_t ret_counts[2]);

/* Publishes the released positions, and frees the slots of threads that ended. */
int segment_publish(struct segment *segment, bool free_slots);

/* Whether nothing is left to read or to release. */
bool segment_is_empty(const struct segment *segment);

/* Writes into a root's segment where the run is stored. */
void segment_tell(struct segment *segment, int error, const char *where);

/* Marks in a root's segment, once a second, that the drain lives. */
void segment_beat(struct segment *segment, uint64_t now_ns);
