/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h - the file that a recording process shares with the drain.
 *
 * The file has a header, SLOT_COUNT slots, each for one thread, and stacks. A process with more
 * threads makes more segments. The writer may die at any instruction, so the reader treats
 * everything as hostile input.
 *
 * The file is sparse. On a full disk, touching a page without a block raises SIGBUS, so a part's
 * blocks are allocated before its first use. The parts are the header and each stack and, of each
 * slot: what is before `tallies`, the tallies of kernels, the other tallies, and `far`. The reader
 * uses pread(), which returns zeroes for missing blocks.
 *
 * Only the owning thread writes a slot's records and `head`. It advances `head` (release) after a
 * record is whole. If the ring is full, it counts the record in `lost_count`. Only the holder of
 * the folder's lock writes `tail`, after it has committed the records below. A thread takes a slot
 * by changing its entry of `tids` from 0 to its tid. The drain frees the slot once the thread is
 * dead and its ring empty.
 *
 * A ring begins in `near`. When `near` is first full, head - tail = NEAR_CAPACITY, the producer
 * sets far_from = head, once, before it publishes the next record. Record p is near[p %
 * NEAR_CAPACITY] if p < far_from or far_from is 0, else far[p % RING_CAPACITY].
 *
 * No uncommitted record is overwritten. While far_from is 0, the producer writes only if head -
 * tail < NEAR_CAPACITY. Later it never writes `near`, and writes `far` only if head - tail <
 * RING_CAPACITY. A reader loads `head` first and `far_from` second, so it finds every record below
 * that head.
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

#define DLPROF_SEGMENT_MAGIC UINT64_C(0x31474553464f5250)	/* "PROFSEG1" */
#define DLPROF_SEGMENT_ABI        14
#define DLPROF_SEGMENT_SUFFIX ".seg"
#define DLPROF_SEGMENT_UNFINISHED ".new" /* suffix of an incomplete file */

#define DLPROF_SLOT_COUNT 4
#define DLPROF_NEAR_CAPACITY 256     /* enough for a steady training's uncommitted records */
#define DLPROF_RING_CAPACITY 2048	/* used once the ring `near` was full */
#define DLPROF_NOTES_BYTES 4096

enum dlprof_segment_flag {
	DLPROF_SEGMENT_ROOT = 1 << 0, /* this is the run's first process */
	/* the process has a write lock (F_OFD_SETLK) on the first byte until its end or execve() */
	DLPROF_SEGMENT_LOCKED = 1 << 1,
	/* with ROOT, after an execve(): the run's facts are in the earlier program's header */
	DLPROF_SEGMENT_LATER = 1 << 2,
};

/* Sums of all threads that had the slot. They are exact even if the ring has lost records. */
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
	_Atomic uint64_t far_from;	/* first record that is in `far`; 0: all are in `near` */
	uint64_t unnamed_count;		/* number of operations for which no tally was free */
	uint64_t unlisted_count;
	alignas(64) _Atomic uint64_t tail;
	alignas(64) struct dlprof_event near[DLPROF_NEAR_CAPACITY];
	/* Named tallies come first, then tallies of files, folders and samples (tally.h). */
	alignas(4096) struct dlprof_tally tallies[DLPROF_TALLY_COUNT];
	alignas(4096) struct dlprof_event far[DLPROF_RING_CAPACITY];
};

/* Sums over all lives of the process. Its last life prints them: the others end by execve(). */
struct dlprof_so_far {
	_Atomic uint64_t batches;
	_Atomic uint64_t time_ns;
	_Atomic uint64_t wait_ns;
	_Atomic uint32_t in_doubt; /* not 0: wait_ns may not be the training's; a note says why */
};

/* Header of a segment. A new program after execve() has the same pid, but another created_ns. */
struct dlprof_header {
	uint64_t magic;
	uint32_t abi;
	uint32_t flags;
	uint32_t slot_count;
	uint32_t slot_bytes;
	uint32_t near_capacity;
	uint32_t ring_capacity;
	uint32_t event_bytes;
	uint32_t tally_bytes;
	uint32_t tally_count;
	int32_t pid;
	int32_t ppid;
	uint64_t start_ticks; /* field 22 of /proc/PID/stat, because pids are reused; 0: unknown */
	uint64_t pid_space;	/* PID namespace: inode of /proc/self/ns/pid; 0: unknown */
	int32_t proc_pid; /* the process's own pid in its /proc; 0: it has no /proc */
	_Atomic uint32_t tids[DLPROF_SLOT_COUNT];	/* threads that hold the slots; 0: free */
	uint64_t created_ns;	/* when this life began; the same in all its segments */
	uint64_t created_unix_ns;
	int32_t rank;			/* -1: the process is of no distributed job */
	int32_t local_rank;
	_Atomic uint64_t ended_ns;	/* when the process began to exit; 0: it has not begun */
	_Atomic uint64_t lost_count;
	_Atomic uint64_t heartbeat_ns;
	_Atomic int32_t store_error;	/* the drain's errno for the database; 0: none */
	uint32_t has_drain;		/* true in a run's first process that started the drain */
	char stored_at[1024];		/* database that the line at exit names; "": none */
	char database[1024];
	struct dlprof_so_far so_far;
	char version[16];
	char host[64];
	char kernel[128];
	char command[1024];		/* arguments, separated by spaces */
	_Atomic uint32_t notes_bytes;  /* bytes of `notes` in use; may exceed DLPROF_NOTES_BYTES */
	uint32_t unused;
	/*
	 * Lines "Ltext\n"; L is 'w' warning, 'i' information, '+' patch point found, '-' missing,
	 * 's' settings of a loader, 'd' wrapped library, 'm' "KEY VALUE" for the meta table. An
	 * unfinished line ends at a 0.
	 */
	char notes[DLPROF_NOTES_BYTES];
};

struct dlprof_segment {
	struct dlprof_header header;
	alignas(4096) struct dlprof_slot slots[DLPROF_SLOT_COUNT];
	struct dlprof_stack stacks[DLPROF_STACK_COUNT];	/* of all threads; first segment only */
};

static_assert(offsetof(struct dlprof_segment, slots) == 8192, "header is two pages");
static_assert((DLPROF_NEAR_CAPACITY & (DLPROF_NEAR_CAPACITY - 1)) == 0 &&
		      (DLPROF_RING_CAPACITY & (DLPROF_RING_CAPACITY - 1)) == 0, "powers of two");
static_assert(sizeof(struct dlprof_slot) % 4096 == 0, "slots share no page");
static_assert(sizeof(struct dlprof_header) <= 8192, "two pages");
