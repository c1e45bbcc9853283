/* SPDX-License-Identifier: Apache-2.0 */
/* segment.h - the files that this process shares with the drain, and their slots. */
#pragma once

#include <stdbool.h>

#include "dlprof/segment.h"
#include "record/activate.h"

#define SEGMENT_MAX 32

/* Opens the first segment. -ENOSPC: the disk is full; later that loses records. No SIGBUS ever. */
int segment_open(const char *folder, uint32_t flags, int32_t rank, int32_t local_rank);

/* Sets the header of the program before execve(), which segment_open() copies; NULL: none. */
void segment_go_on(const struct dlprof_header *before);

const char *segment_path(void);

uint64_t segment_stream(void);

struct segment_claim {
	struct dlprof_slot *slot;
	uint32_t segment, place;
	uint32_t tid;
};

/*
 * Takes a slot, maybe in a new segment. Naps while another thread adds a segment. Returns false
 * and counts a loss if there is no room.
 */
bool segment_claim(struct segment_claim *claim);

enum segment_part {
	SEGMENT_RECORDS, /* what a slot has before its tallies */
	SEGMENT_TALLIES,
	SEGMENT_KERNELS,
	SEGMENT_FAR,
	SEGMENT_PART_MAX
};

/* Reserves a part's blocks, in the slot's thread. If negative, the disk is full: touch nothing. */
int segment_reserve(const struct dlprof_slot *slot, enum segment_part part);

/* Returns stack number `index`, or NULL if there is no room, or another thread is reserving. */
struct dlprof_stack *segment_stack(uint32_t index);

/* Returns true if the segments are this process's own, not those of its parent. */
bool segment_is_own_by_pid(void);

static inline bool segment_is_own(void)
{
	return likely(activate_on() && !activate_shares && !activate_unwiped) ||
	       segment_is_own_by_pid();
}

/* Sums counters of all slots but `mine`. Returns false if there are no others. */
bool segment_others(const struct dlprof_slot *mine, struct dlprof_counter sums[DLPROF_CLASS_MAX]);

/* Notes that this process ends by itself. Does nothing for the segments of another process. */
void segment_mark_end(void);

struct dlprof_segment *segment_first(void);
