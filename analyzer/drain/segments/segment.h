/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h - read what a recording process wrote, and believe none of it.
 *
 * The file is read with pread(), never mapped: one that is cut short while we read ends a read
 * early instead of killing us. Functions return 0 or a negative errno.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlprof/segment.h"
#include "drain/segments/alive.h"

/* One thread's ring. A record is released once what it became is in the database. */
struct ring {
	uint32_t tid;		/* 0: its thread has ended, or there was none */
	bool used;		/* there was one */
	uint64_t read;		/* next record to take */
	uint64_t release;	/* records below may be overwritten; to be published */
	uint64_t published;	/* `tail` as the file has it */
	uint64_t lost_count;
	uint64_t head;		/* as last seen */
	uint64_t far_from;	/* which never changes once it is not 0 */
	uint64_t told[DLPROF_TALLY_COUNT];	/* tally.c's: what the database knows */
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

struct segment {
	char name[64];
	int fd;
	struct alive alive;
	bool apart;		/* gather.c's: the folder that it was in was removed */
	bool dead;		/* its life ended; nothing more will be written */
	uint64_t left_ns;	/* the process was seen to be another program; 0: it was not */
	uint64_t later_ns;	/* gather.c's: when its next life began to record; 0: none did */
	int exit_status;	/* ... so, as waitpid() has it; -1: not known */
	bool lived;		/* at the last look */
	uint64_t gone_ns;	/* when it was seen to be gone; 0: it was never seen to live */
	bool looked;		/* at every ring, once */
	const char *role;	/* as the database was told, or NULL; join.c's */
	int64_t worker_id;	/* the same; WRITE_UNKNOWN: no worker's */
	bool ended_noted;	/* drain.c's: the database knows of its end */
	int64_t lost_noted;	/* ... of so many losses */
	uint32_t notes_read;	/* ... of the notes up to here */
	bool folded;	/* tally.c's: the totals hold its tallies */
	uint64_t told_unlisted[2];	/* tally.c's */
	uint8_t stack_tries[DLPROF_STACK_COUNT];	/* stacks.c's */
	uint64_t look_ns, look_wait_ns;	/* hidden.c's: when to look at its modules again */
	uint64_t batch_ns;	/* join.c's: when its newest batch was in hand; 0: none was */
	double loaded_ns;	/* the same: how long its loads took, in all */
	uint64_t beat_ns;	/* last sign of life given to the process */
	struct dlprof_header *header;	/* a copy */
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
 * Sees whether the life ended; `is_root_gone`: the process which started the run has. True once:
 * everything that it wrote can be read from now on.
 */
bool segment_poll(struct segment *segment, bool is_root_gone);

/* Reads the header again: notes, losses, the end mark. */
int segment_refresh(struct segment *segment);

/*
 * Hands every new record of every ring to `take`, oldest first per ring, with its position.
 * *ret_taken: how many. Stops with the result of `take` if that is negative.
 */
int segment_read(struct segment *segment,
		 int (*take)(void *context, struct segment *segment, struct ring *ring,
			     uint64_t position, struct dlprof_event *event),
		 void *context, size_t *ret_taken);

/* Whether a ring has much to read, or a thread one that is not known. */
bool segment_is_filling(struct segment *segment);

/* All tallies of a slot, as they stand. */
int segment_read_tallies(const struct segment *segment, size_t slot,
			 struct dlprof_tally tallies[DLPROF_TALLY_COUNT]);

/* A stack that waits to be unwound; *ret_full: there is one. segment_free_stack() gives it back. */
int segment_read_stack(const struct segment *segment, size_t place, struct dlprof_stack *stack,
		       bool *ret_full);
int segment_free_stack(const struct segment *segment, size_t place);

/* Counts of what a slot could not list one by one: operations without a tally, slow operations. */
int segment_read_unlisted(const struct segment *segment, size_t slot, uint64_t ret_counts[2]);

/* Writes the released positions back, and gives back the slots of threads that ended. */
int segment_publish(struct segment *segment, bool free_slots);

/* Nothing left to read or to release. */
bool segment_is_empty(const struct segment *segment);

/* Writes into a root's segment where the run is stored. */
void segment_tell(struct segment *segment, int error, const char *where);

/* Marks in a root's segment, once a second, that the drain is alive. */
void segment_beat(struct segment *segment, uint64_t now_ns);
