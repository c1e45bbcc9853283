/* SPDX-License-Identifier: Apache-2.0 */
/* segment.h - the shared files of this process, and who writes into which slot of them. */
#pragma once

#include <stdbool.h>

#include "dlprof/segment.h"
#include "record/activate.h"

#define SEGMENT_MAX 32

/*
 * Makes this process's first segment in `folder`, with blocks for one thread: a full disk shows
 * here as -ENOSPC, later as loss, and never as SIGBUS. Forgets, in a forked child, the parent's
 * segments.
 */
int segment_open(const char *folder, uint32_t flags, int32_t rank, int32_t local_rank);

/*
 * What the program that this process was told of the run, in the header of its first segment, is to
 * stand in ours, too; before segment_open(). NULL: there was none.
 */
void segment_go_on(const struct dlprof_header *before);

/* Of the first segment. */
const char *segment_path(void);

/* For streams of this life; see dlprof/event.h. */
uint64_t segment_stream(void);

/* A slot of the calling thread, and where it is. */
struct segment_claim {
	struct dlprof_slot *slot;
	uint32_t segment, place;
	uint32_t tid;
};

/* A slot for the calling thread, in one segment more if need be. False: none; counted as loss. */
bool segment_claim(struct segment_claim *claim);

/* Parts of a slot; the first is there once it is claimed, the others not every thread needs. */
enum segment_part {
	SEGMENT_RECORDS, /* what lies below the tallies */
	SEGMENT_TALLIES,
	SEGMENT_KERNELS,
	SEGMENT_FAR,
	SEGMENT_PART_MAX
};

/* The slot's thread alone asks. 0, or negative: there is no room, and it may not be touched. */
int segment_reserve(const struct dlprof_slot *slot, enum segment_part part);

/* A place for a stack. NULL: there is no room for it, or another thread asks just now. */
struct dlprof_stack *segment_stack(uint32_t index);

/* Another thread is making one more just now; until it is done, segment_claim() may fail. */
bool segment_is_growing(void);

/*
 * Whether this process made the segments. Not so in a vfork child, which shares its parent's memory
 * but not its descriptors and threads, nor in a forked one that has not joined the run.
 */
bool segment_is_own_by_pid(void);

static inline bool segment_is_own(void)
{
	return likely(activate_on() && !activate_shares && !activate_unwiped) ||
	       segment_is_own_by_pid();
}

/* What all threads but the slot's have counted, by class. False: none has, and they are zero. */
bool segment_others(const struct dlprof_slot *mine, struct dlprof_counter sums[DLPROF_CLASS_MAX]);

/* This process ends of its own accord now. Nothing where the segments are another process's. */
void segment_mark_end(void);

/* The first segment; NULL before segment_open(). */
struct dlprof_segment *segment_first(void);
