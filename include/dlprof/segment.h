/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h - the file that a recording process shares with the drain.
 *
 * A segment belongs to one process and holds SLOT_COUNT slots, one per recording thread; a process
 * with more threads makes more segments. Layout: header, then the slots, then the stacks.
 *
 * The file is sparse: it has its full length from the start, but few disk blocks. The process
 * allocates the blocks of a part before it first touches that part, because on a full disk a page
 * without a block raises SIGBUS. The parts are: the header; the beginning of a slot, up to
 * `tallies`; its tallies except those of kernels; its tallies of kernels; `far`; each stack. The
 * reader uses pread(), which returns zeroes for a part without blocks.
 *
 * Rules. Only the owning thread writes a slot's records and `head`; it advances `head` (release)
 * after the record is whole. Only the holder of the lock on the segment folder writes `tail`; it
 * advances `tail` after the records below are committed to the database. A producer that has no
 * room drops the record and counts it in `lost_count`. A thread claims a slot by changing its entry
 * in `tids` from 0 to the tid; the drain frees the slot once the thread is dead and its ring is
 * empty. The writer may die at any instruction, so the reader must treat everything here as hostile
 * input.
 *
 * A slot's ring begins small and becomes large once, when the small one is full for the first time:
 * the record at position p lies in near[p % NEAR_CAPACITY] if p < far_from or far_from is 0, else
 * in far[p % RING_CAPACITY]. The producer sets far_from = head when it finds
 * head - tail = NEAR_CAPACITY, before it publishes that record, and never changes far_from again.
 *
 * No uncommitted record is overwritten. While far_from is 0, the producer writes only if
 * head - tail < NEAR_CAPACITY. Later it never writes into `near` again, and writes
 * far[head % RING_CAPACITY] only if head - tail < RING_CAPACITY: the record that was there, at
 * position head - RING_CAPACITY, lies below `tail`. A reader that loads `head` first and `far_from`
 * second knows where every record below that head lies, since a record is published after the
 * far_from that applies to it.
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
#define DLPROF_SEGMENT_ABI        11
#define DLPROF_SEGMENT_SUFFIX ".seg"
#define DLPROF_SEGMENT_UNFINISHED ".new" /* suffix of the file's name until the file is complete */

#define DLPROF_SLOT_COUNT 4
#define DLPROF_NEAR_CAPACITY 256     /* enough for the uncommitted records of a steady training */
#define DLPROF_RING_CAPACITY 2048	/* used once the smaller ring has been full */
#define DLPROF_NOTES_BYTES 4096

enum dlprof_segment_flag {
	DLPROF_SEGMENT_ROOT = 1 << 0,	/* the segment's process started the run */
	/*
	 * The process holds a write lock (F_OFD_SETLK) on the file's first byte, by an open file
	 * description that its memory mapping keeps alive. If the lock is gone, the process has
	 * ended or runs another program.
	 */
	DLPROF_SEGMENT_LOCKED = 1 << 1,
	/*
	 * For a root: the run was begun by another program, which became this one by execve(). The
	 * header of the run's first life has the facts about the run.
	 */
	DLPROF_SEGMENT_LATER = 1 << 2,
};

/* Totals over all threads that held the slot. They are exact even when the ring drops records. */
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
	uint64_t unnamed_count;		/* operations without a tally: all named ones were taken */
	uint64_t unlisted_count;	/* slow operations that were too many to be recorded */
	alignas(64) _Atomic uint64_t tail;
	alignas(64) struct dlprof_event near[DLPROF_NEAR_CAPACITY];
	/* Named tallies first, then those of files, folders and samples; see tally.h. */
	alignas(4096) struct dlprof_tally tallies[DLPROF_TALLY_COUNT];
	alignas(4096) struct dlprof_event far[DLPROF_RING_CAPACITY];
};

/*
 * The stall account so far, over all lives of the process, for the line at exit. It is kept in the
 * segment, because a program that becomes another by execve() cannot print that line.
 */
struct dlprof_so_far {
	_Atomic uint64_t batches;
	_Atomic uint64_t time_ns;
	_Atomic uint64_t wait_ns;
	_Atomic uint32_t in_doubt; /* not 0: perhaps not the training's waits; a note says why */
};

/*
 * Header of a segment. After an execve() a process begins another life: pid and start_ticks stay
 * the same, but created_ns differs. A life ends when the next one has a segment.
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
	uint64_t start_ticks; /* field 22 of /proc/PID/stat, to detect a reused pid; 0: unknown */
	uint64_t pid_space;	/* pid namespace: inode of /proc/self/ns/pid; 0: unknown */
	int32_t proc_pid; /* the process's pid as its own /proc shows it; 0: no /proc */
	_Atomic uint32_t tids[DLPROF_SLOT_COUNT];	/* thread that holds each slot; 0: free */
	uint64_t created_ns;	/* when this life began to record, the same in all its segments */
	uint64_t created_unix_ns;
	int32_t rank;			/* -1: not a distributed job */
	int32_t local_rank;
	_Atomic uint64_t ended_ns;	/* begin of the process's exit; 0: not begun */
	_Atomic uint64_t lost_count;	/* events of threads that found no slot */
	_Atomic uint64_t heartbeat_ns;	/* time of the drain's last round */
	_Atomic int32_t store_error;	/* the drain's errno from writing the database; 0: none */
	uint32_t has_drain;		/* for a root: its drain was started */
	char stored_at[1024];		/* where the drain stores the run, for the line at exit;
					 * "": nowhere */
	char database[1024];		/* for a root: where to store the run */
	struct dlprof_so_far so_far;	/* for a root: the stall account of its process */
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
