/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h - the file that a recording process shares with the drain.
 *
 * A segment belongs to one process and holds SLOT_COUNT slots, one per recording thread; a
 * process with more threads makes more segments. Layout: header, then the slots, then the stacks.
 *
 * The file has its full length and few blocks. The process has blocks made for each part before it
 * touches it: a page without one would, on a full disk, raise SIGBUS where it is first read or
 * written. Parts: the header; of a slot what lies below `tallies`, the tallies but those
 * of kernels, these, `far`; each stack. The reader uses pread(), to which a part without blocks is
 * zeroes.
 *
 * Rules. Only the owning thread writes a slot's records and `head`; `head` moves (release) after
 * its record is whole. Only the holder of the lock on the segment folder writes `tail`; it moves
 * after what lies below it is committed to the database. A producer that has no room drops the
 * record and counts it in `lost_count`. A slot is claimed 0 -> tid in `tids` by the thread, and
 * given back by the drain once the thread is dead and its ring empty. The writer may die at any
 * instruction, so everything here is hostile input to the reader.
 *
 * A slot's ring begins small and becomes large once, when the small one is full for the first
 * time: the record at position p lies in near[p % NEAR_CAPACITY] if p < far_from or far_from is 0,
 * else in far[p % RING_CAPACITY]. The producer sets far_from = head, while it sees
 * head - tail = NEAR_CAPACITY, before it publishes that record, and never changes it again. Why
 * nothing is overwritten that is not committed: without far_from it writes at `head` only if
 * head - tail < NEAR_CAPACITY. With it, it never writes into `near` again, and into
 * far[head % RING_CAPACITY] only if head - tail < RING_CAPACITY, so that what this place held
 * before, head - RING_CAPACITY, lies below `tail`. Who reads `head` first and `far_from` then knows
 * of every position below that head where it lies: a record is published after the far_from that
 * holds for it.
 */
#pragma once

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "dlprof/event.h"
#include "dlprof/stack.h"
#include "dlprof/tally.h"

#define DLPROF_SEGMENT_MAGIC UINT64_C(0x31474553464f5250)	/* the bytes "PROFSEG1" */
#define DLPROF_SEGMENT_ABI        10
#define DLPROF_SEGMENT_SUFFIX ".seg"
#define DLPROF_SEGMENT_UNFINISHED ".new"	/* ending of the file's name until it may be read */

#define DLPROF_SLOT_COUNT 4
#define DLPROF_NEAR_CAPACITY 256     /* enough for a steady training's records that are under way */
#define DLPROF_RING_CAPACITY 2048	/* used after the smaller ring was full once */
#define DLPROF_NOTES_BYTES 4096

enum dlprof_segment_flag {
	DLPROF_SEGMENT_ROOT = 1 << 0,	/* the segment's process started the run */
	/*
	 * The process's memory keeps an open file description alive, which holds a write lock on
	 * the first byte (F_OFD_SETLK): without the lock the process has ended, or runs another
	 * program.
	 */
	DLPROF_SEGMENT_LOCKED = 1 << 1,
	/*
	 * For a root: the program that began the run became this one by execve(). The header of the
	 * run's first life has the facts about the run.
	 */
	DLPROF_SEGMENT_LATER = 1 << 2,
};

/* Totals over all threads that held the slot; exact even when its ring drops records. */
struct dlprof_counter {
	uint64_t count;
	uint64_t bytes;
	uint64_t ns;
	uint64_t failed_count;
};

struct dlprof_slot {
	struct dlprof_counter counters[DLPROF_CLASS_MAX];
	alignas(64) _Atomic uint64_t head;
	_Atomic uint64_t lost_count;
	_Atomic uint64_t far_from;	/* 0: the records of all positions are in `near` */
	uint64_t unnamed_count;		/* operations that found no free named tally */
	uint64_t unlisted_count;	/* slow operations beyond the rate that is recorded */
	alignas(64) _Atomic uint64_t tail;
	alignas(64) struct dlprof_event near[DLPROF_NEAR_CAPACITY];
	/* Named tallies first, then those of files, folders and samples; see tally.h. */
	alignas(4096) struct dlprof_tally tallies[DLPROF_TALLY_COUNT];
	alignas(4096) struct dlprof_event far[DLPROF_RING_CAPACITY];
};

/*
 * The account so far, for the line at exit, over all lives of the process. It is in the segment,
 * because a program that becomes another by execve() cannot print the line.
 */
struct dlprof_so_far {
	_Atomic uint64_t batches;
	_Atomic uint64_t time_ns;
	_Atomic uint64_t wait_ns;
	_Atomic uint32_t in_doubt;	/* the waits may not be the training's; a note says why */
};

/*
 * A process that becomes another program by execve() begins another life: pid and start_ticks stay,
 * created_ns tells the lives apart. A life ends when the next one has a segment.
 */
struct dlprof_header {
	uint64_t magic;
	uint32_t abi;
	uint32_t flags;			/* bits of enum dlprof_segment_flag */
	uint32_t slot_count;
	uint32_t slot_bytes;
	uint32_t near_capacity;
	uint32_t ring_capacity;
	uint32_t event_bytes;
	uint32_t tally_bytes;
	uint32_t tally_count;
	int32_t pid;
	int32_t ppid;
	uint64_t start_ticks; /* field 22 of /proc/PID/stat, which shows a reused pid; 0: unknown */
	uint64_t pid_space;	/* pid namespace: inode of /proc/self/ns/pid; 0: unknown */
	int32_t proc_pid;		/* its pid in the /proc that it sees; 0: it sees no /proc */
	_Atomic uint32_t tids[DLPROF_SLOT_COUNT];	/* thread of each slot; 0: free */
	uint64_t created_ns;	/* when this life began to record, the same in all its segments */
	uint64_t created_unix_ns;
	int32_t rank;			/* -1: not a distributed job */
	int32_t local_rank;
	_Atomic uint64_t ended_ns;	/* begin of the process's exit; 0: not begun */
	_Atomic uint64_t lost_count;	/* events of threads that found no slot */
	_Atomic uint64_t heartbeat_ns;	/* time of the drain's last round */
	_Atomic int32_t store_error;	/* the drain's errno from writing the database; 0: none */
	uint32_t has_drain;		/* for a root: its drain was started */
	char stored_at[1024];		/* where the run is stored instead; "": nowhere yet */
	char database[1024];		/* for a root: where to store the run */
	struct dlprof_so_far so_far;	/* of a root: account of its process */
	char version[16];
	char host[64];
	char kernel[128];
	char command[1024];		/* arguments, separated by spaces */
	_Atomic uint32_t notes_bytes;  /* bytes claimed by writers; may exceed DLPROF_NOTES_BYTES */
	uint32_t unused;
	/*
	 * Lines "Ltext\n": L = 'w' warning, 'i' information, '+' patch point found, '-' missing,
	 * 's' what a loader was set to, 'd' decode library whose callers were found, 'm' "KEY
	 * VALUE" for the meta table.
	 * A line that its writer did not finish is cut at the first 0.
	 */
	char notes[DLPROF_NOTES_BYTES];
};

struct dlprof_segment {
	struct dlprof_header header;
	alignas(4096) struct dlprof_slot slots[DLPROF_SLOT_COUNT];
	struct dlprof_stack stacks[DLPROF_STACK_COUNT];	/* in the first segment, for all threads */
};

static_assert(offsetof(struct dlprof_segment, slots) == 8192, "header is two pages");
static_assert((DLPROF_NEAR_CAPACITY & (DLPROF_NEAR_CAPACITY - 1)) == 0 &&
		      (DLPROF_RING_CAPACITY & (DLPROF_RING_CAPACITY - 1)) == 0, "powers of two");
static_assert(sizeof(struct dlprof_slot) % 4096 == 0, "slots share no page");
static_assert(sizeof(struct dlprof_header) <= 8192, "two pages");
