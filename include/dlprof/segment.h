/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h - the file that a recording process shares with the drain.
 *
 * A segment belongs to one process and holds SLOT_COUNT slots, one per recording thread; a
 * process with more threads makes more segments. Layout: header, then the slots.
 *
 * Rules. Only the owning thread writes a slot's events and `head`; `head` moves (release) after
 * its record is whole. Only the holder of the lock on the segment folder writes `tail`; it moves
 * after what lies below it is committed to the database. head - tail <= RING_CAPACITY; a
 * producer that would break this drops the record and counts it in `lost_count`. `tid` is claimed
 * 0 -> tid by the thread and given back by the drain once the thread is dead and its ring empty.
 * The writer may die at any instruction, so everything here is hostile input to the reader.
 */
#ifndef DLPROF_SEGMENT_H
#define DLPROF_SEGMENT_H

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "dlprof/event.h"
#include "dlprof/stack.h"
#include "dlprof/tally.h"

#define DLPROF_SEGMENT_MAGIC UINT64_C(0x31474553464f5250)	/* "PROFSEG1" */
#define DLPROF_SEGMENT_ABI 3
#define DLPROF_SEGMENT_SUFFIX ".seg"
#define DLPROF_SEGMENT_UNFINISHED ".new"	/* its name until it may be read */

#define DLPROF_SLOT_COUNT 4
#define DLPROF_RING_CAPACITY 2048
#define DLPROF_NOTES_BYTES 4096

enum dlprof_segment_flag {
	DLPROF_SEGMENT_ROOT = 1 << 0,	/* of the process that started the run */
};

/* Totals of the threads that held the slot; exact even when its ring drops records. */
struct dlprof_counter {
	uint64_t count;
	uint64_t bytes;
	uint64_t ns;
	uint64_t failed_count;
};

struct dlprof_slot {
	_Atomic uint32_t tid;		/* 0: free */
	uint32_t unused;
	struct dlprof_counter counters[DLPROF_CLASS_MAX];
	alignas(64) _Atomic uint64_t head;
	_Atomic uint64_t lost_count;
	alignas(64) _Atomic uint64_t tail;
	alignas(64) struct dlprof_event events[DLPROF_RING_CAPACITY];
	/* Named ones first, then files, folders, samples; see tally.h. */
	alignas(64) struct dlprof_tally tallies[DLPROF_TALLY_COUNT];
	uint64_t unnamed_count;		/* operations that found no named tally */
	uint64_t unlisted_count;	/* slow operations beyond the rate at which they are kept */
};

struct dlprof_header {
	uint64_t magic;
	uint32_t abi;
	uint32_t flags;			/* enum dlprof_segment_flag */
	uint32_t slot_count;
	uint32_t slot_bytes;
	uint32_t ring_capacity;
	uint32_t event_bytes;
	uint32_t tally_bytes;
	uint32_t tally_count;
	int32_t pid;
	int32_t ppid;
	uint64_t start_ticks;		/* field 22 of /proc/PID/stat: tells a reused pid */
	uint64_t created_ns;
	uint64_t created_unix_ns;
	int32_t rank;			/* -1: not a distributed job */
	int32_t local_rank;
	_Atomic uint64_t ended_ns;	/* the process began to exit; 0: not (yet) */
	_Atomic uint64_t lost_count;	/* events of threads that found no slot */
	_Atomic uint64_t heartbeat_ns;	/* the drain's last round, written by the drain */
	char version[16];
	char host[64];
	char kernel[128];
	char command[1024];		/* arguments, separated by spaces */
	_Atomic uint32_t notes_bytes;	/* claimed, may exceed DLPROF_NOTES_BYTES */
	uint32_t unused;
	/*
	 * Lines "Ltext\n": L = 'w' warning, 'i' information, '+' patch point found, '-' missing,
	 * 'd' decode library whose callers were found, 'm' "KEY VALUE" for the meta table.
	 * A line that its writer did not finish is cut at the first 0.
	 */
	char notes[DLPROF_NOTES_BYTES];
};

struct dlprof_segment {
	struct dlprof_header header;
	alignas(4096) struct dlprof_slot slots[DLPROF_SLOT_COUNT];
	struct dlprof_stack stacks[DLPROF_STACK_COUNT];	/* of the first segment, for all threads */
};

static_assert(offsetof(struct dlprof_segment, slots) == 8192, "header is two pages");
static_assert(sizeof(struct dlprof_slot) % 64 == 0, "slots stay on cache lines");

#endif
