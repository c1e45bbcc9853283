/* SPDX-License-Identifier: Apache-2.0 */
/* segment.h - the shared files of this process, and which thread writes to which slot of them. */
#pragma once

#include <stdbool.h>

#include "dlprof/segment.h"
#include "record/activate.h"

#define SEGMENT_MAX 32

/*
 * Makes this process's first segment in `folder`, with blocks for one thread. A full disk is
 * reported here as -ENOSPC, later as lost records, and never as SIGBUS. In a forked child, forgets
 * the parent's segments.
 */
int segment_open(const char *folder, uint32_t flags, int32_t rank, int32_t local_rank);

/* Sets the header of this process's earlier program for segment_open() to copy; NULL: none. */
void segment_go_on(const struct dlprof_header *before);

/* Returns the path of the first segment. */
const char *segment_path(void);

/* Returns a number for streams in this life; see DLPROF_STREAM_OF. */
uint64_t segment_stream(void);

/* The calling thread's slot, and its place. */
struct segment_claim {
	struct dlprof_slot *slot;
	uint32_t segment, place;
	uint32_t tid;
};

/*
 * Claims a slot for the calling thread, perhaps in a new segment. Returns false and counts a loss
 * if there is no room.
 */
bool segment_claim(struct segment_claim *claim);

/* Parts of a slot. Claiming a slot reserves the first part; most threads need few of the others. */
enum segment_part {
	SEGMENT_RECORDS, /* all before the tallies */
	SEGMENT_TALLIES,
	SEGMENT_KERNELS,
	SEGMENT_FAR,
	SEGMENT_PART_MAX
};

/* Reserves a part for the slot's own thread. Negative: the disk is full, do not touch the part. */
int segment_reserve(const struct dlprof_slot *slot, enum segment_part part);

/* Returns a place for a stack, or NULL if there is no room, or another thread is reserving. */
struct dlprof_stack *segment_stack(uint32_t index);

/* Returns true while a thread adds a segment, during which segment_claim() may fail. */
bool segment_is_growing(void);

/*
 * Returns true if this process made the segments. A vfork child did not: it shares its parent's
 * memory, but not its descriptors and threads. A forked child did not until it has joined the run.
 */
bool segment_is_own_by_pid(void);

static inline bool segment_is_own(void)
{
	return likely(activate_on() && !activate_shares && !activate_unwiped) ||
	       segment_is_own_by_pid();
}

/* Sums the counters of all slots but `mine`, by class. Returns false if there are no others. */
bool segment_others(const struct dlprof_slot *mine, struct dlprof_counter sums[DLPROF_CLASS_MAX]);

/* Notes that this process ends by itself. Does nothing if the segments are another process's. */
void segment_mark_end(void);

/* Returns the first segment; NULL before segment_open(). */
struct dlprof_segment *segment_first(void);
