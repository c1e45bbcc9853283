/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h - reads what a recording process wrote, and trusts none of it.
 *
 * It uses pread(), which returns less if the file was truncated. A mapping would raise SIGBUS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlprof/segment.h"
#include "drain/segments/alive.h"

/* The ring of one thread. A record is released once its row is in the database. */
struct ring {
	uint32_t tid; /* thread that owns the ring; 0: it has ended, or there was none */
	bool used;    /* the ring has, or had, a thread */
	uint64_t read;
	uint64_t release; /* the process may overwrite records before this position */
	uint64_t published; /* the file's `tail`: the value of `release` when last written */
	uint64_t lost_count;
	uint64_t head;
	uint64_t far_from; /* first position in `far` (dlprof/segment.h); 0: none */
	/* batches/totals.c: state of each tally when it was last written */
	uint64_t told[DLPROF_TALLY_COUNT];
};

/* A life of a process: from its start or an execve() to its end or the next execve(). */
struct life {
	int32_t pid; /* 0: no process */
	uint64_t begun_ns;
};

static inline bool life_is(const struct life *one, const struct life *other)
{
	return one->pid == other->pid && one->begun_ns == other->begun_ns;
}

/* A segment of a process. An inner struct is filled by the file that its comment names. */
struct segment {
	char name[64];
	int fd;
	struct alive alive;
	bool apart; /* gather.c: the segment's folder was removed */
	bool dead;  /* the life has ended, so the segment does not change any more */
	/* when the process was seen to run another program; 0: not yet */
	uint64_t left_ns;
	/* gather.c: when the next life of the process began to record; 0: there is none */
	uint64_t later_ns;
	int exit_status; /* exit status, as of waitpid(); -1: unknown */
	bool lived;      /* the process lived when the drain last looked */
	/* when the process was first seen to be gone; 0: it lives, or was never seen alive */
	uint64_t gone_ns;
	bool looked;               /* each ring was looked at once */
	struct {                   /* batches/join.c: what the database has about the process */
		const char *role;  /* NULL: none yet */
		int64_t worker_id; /* UNKNOWN: it is no worker */
		uint64_t batch_ns;
		double loaded_ns;
		bool has_gpu; /* the process recorded GPU work */
	} joined;
	struct { /* database/facts.c: what the database has of the segment */
		bool ended;
		int64_t lost;
		uint32_t notes_read;
	} told;
	struct { /* batches/totals.c: what was added to the totals */
		bool folded;
		uint64_t unlisted[2]; /* results of segment_read_unlisted() that were added */
	} totals;
	struct { /* modules/hidden.c: time of the next scan of modules, and pause before it */
		uint64_t at_ns, wait_ns;
	} look;
	uint8_t stack_tries[DLPROF_STACK_COUNT]; /* modules/stacks.c: failed attempts */
	uint64_t beat_ns;
	struct dlprof_header *header;
	struct ring rings[DLPROF_SLOT_COUNT];
};

static inline struct life segment_life(const struct segment *segment)
{
	return (struct life){segment->header->pid, segment->header->created_ns};
}

/* Returns true if no earlier segment in the list is of the same life, which still goes on. */
bool segment_is_first(struct segment *const *segments, size_t index);

/* Opens a segment. -EPERM: not dlprof's; -EBADMSG: truncated, or no segment of this version. */
int segment_open(int folder, const char *name, struct segment **ret_segment);
void segment_close(struct segment *segment);

/* Returns true just once, when the life has ended: all its records can be read from now on. */
bool segment_poll(struct segment *segment, bool is_root_gone);

int segment_refresh(struct segment *segment);

/* A record that was read. Who takes it may change the event, such as end its strings. */
struct record {
	struct segment *segment;
	struct ring *ring;
	uint64_t position; /* its place in the ring */
	struct dlprof_event *event;
};

/* Returns the thread that trains: the main thread, if a pool's thread asks for the batches. */
static inline uint32_t record_trainer(const struct record *record)
{
	return record->event->flags & DLPROF_FLAG_POOL ? (uint32_t)record->segment->header->pid
						       : record->ring->tid;
}

/* Reads each ring from its oldest record on. If `take` returns a negative result, ends. */
int segment_read(struct segment *segment,
		 int (*take)(void *context, const struct record *record), void *context,
		 size_t *ret_taken);

/* Returns true if a ring has many unread records, or a thread that is not known yet. */
bool segment_is_filling(struct segment *segment);

int segment_read_tallies(const struct segment *segment, size_t slot,
			 struct dlprof_tally tallies[DLPROF_TALLY_COUNT]);

/* Reads a place for a stack. *ret_full: it has a stack; segment_free_stack() then frees it. */
int segment_read_stack(const struct segment *segment, size_t place, struct dlprof_stack *stack,
		       bool *ret_full);
int segment_free_stack(const struct segment *segment, size_t place);

/* Reads how many operations have no tally, and how many slow ones have no record. */
int segment_read_unlisted(const struct segment *segment, size_t slot, uint64_t ret_counts[2]);

/* Tells the process which records it may overwrite. `free_slots`: frees ended threads' slots. */
int segment_publish(struct segment *segment, bool free_slots);

bool segment_is_empty(const struct segment *segment);

void segment_tell(struct segment *segment, int error, const char *where);

/* Writes the drain's heartbeat, at most once a second. */
void segment_beat(struct segment *segment, uint64_t now_ns);
