/* SPDX-License-Identifier: Apache-2.0 */
/* segment.h - makes the files that this process shares with the drain, and gives threads slots. */
#pragma once

#include <stdbool.h>

#include "dlprof/segment.h"
#include "record/activate.h"

#define SEGMENT_MAX 32

/* Opens the first segment. -ENOSPC: the disk is full. If it gets full later, records are lost. */
int segment_open(const char *folder, uint32_t flags, int32_t rank, int32_t local_rank);

/* Sets which header, of the program before execve(), segment_open() is to copy; NULL: none. */
void segment_go_on(const struct dlprof_header *before);

const char *segment_path(void);

uint64_t segment_stream(void);

struct segment_claim {
	struct dlprof_slot *slot;
	uint32_t segment, place;
	uint32_t tid;
};

/*
 * Takes a free slot for this thread; if there is none, adds a segment, or naps while another thread
 * adds one. Returns false, and counts a loss, if there is no room.
 */
bool segment_claim(struct segment_claim *claim);

enum segment_part {
	SEGMENT_RECORDS, /* all that comes before the tallies in a slot */
	SEGMENT_TALLIES,
	SEGMENT_KERNELS,
	SEGMENT_FAR,
	SEGMENT_PART_MAX
};

/* Reserves disk blocks for a part of this thread's slot. < 0: the disk is full; do not touch it. */
int segment_reserve(const struct dlprof_slot *slot, enum segment_part part);

/* Returns stack `index`. NULL: there is no room, or another thread is reserving room now. */
struct dlprof_stack *segment_stack(uint32_t index);

/* Returns false in a child whose segments are still those of its parent. */
bool segment_is_own_by_pid(void);

static inline bool segment_is_own(void)
{
	return likely(activate_on() && !activate_shares && !activate_unwiped) ||
	       segment_is_own_by_pid();
}

/* Sums the counters of all slots but `mine`. Returns false if there is no other slot. */
bool segment_others(const struct dlprof_slot *mine, struct dlprof_counter sums[DLPROF_CLASS_MAX]);

/* Notes in the segments, if they are this process's own, that the process ends by itself. */
void segment_mark_end(void);

struct dlprof_segment *segment_first(void);
