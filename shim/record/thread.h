/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - holds what the wrappers know of each thread of the host.
 *
 * Only the pointer thread_self is thread-local, in the initial-exec model. Other thread-local
 * storage may allocate memory on first use, and a wrapper may run inside an allocator.
 */
#pragma once

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "dlprof/segment.h"

#define THREAD_FRAME_MAX 24

#define THREAD_NEVER_TICKS (UINT64_C(1) << 60)	/* more ticks than any call takes */

struct thread_frame {
	uintptr_t address;
	uint64_t inner_ticks;
	uint64_t decoder;	/* unit.mark in a decoder's call (decode/unit.h); 0: none */
};

#define THREAD_STEP_MAX 32

/* A transform of a sample, known by its class or function (`key`), which is only compared. */
struct thread_step {
	const void *key;
	struct dlprof_tally *tally;
};

extern HIDDEN const _Atomic uint32_t thread_no_version; /* a version that no path has */

/* The file of this thread's last operation. */
struct thread_visit {
	int fd;			/* -1: none */
	uint32_t version;
	/* address of the path's version, if the file is known to be data */
	const _Atomic uint32_t *quick;
	struct dlprof_tally *file;
	struct dlprof_tally *folder;
	/* first file that this sample read, and first file of the previous sample; NULL: none */
	const struct dlprof_tally *sample_first, *sample_before;
	uint64_t count, ns, bytes;	/* what the folder has already got of the file's sums */
};

#define THREAD_TOP_MAX	 64
#define THREAD_TOP_BLOCK 16

/* Tallies of one kind. If all are in use, a new name replaces the one with the least time. */
struct thread_top {
	alignas(64) struct dlprof_tally *tallies;
	uint32_t count;		/* number of tallies, a multiple of THREAD_TOP_BLOCK */
	enum dlprof_tally_kind kind;
	/* for each block, the least time of its tallies, and the index of that tally */
	uint64_t lightest_ns[THREAD_TOP_MAX / THREAD_TOP_BLOCK];
	uint8_t lightest[THREAD_TOP_MAX / THREAD_TOP_BLOCK];
	alignas(64) uint16_t tags[THREAD_TOP_MAX];	/* part of each name's hash; 0: free */
	uint64_t ns[THREAD_TOP_MAX]; /* time of each tally when last used */
};

static_assert(DLPROF_TALLY_FILE_COUNT <= THREAD_TOP_MAX &&
		      DLPROF_TALLY_FOLDER_COUNT <= THREAD_TOP_MAX &&
		      DLPROF_TALLY_KERNEL_COUNT <= THREAD_TOP_MAX &&
		      DLPROF_TALLY_FILE_COUNT % THREAD_TOP_BLOCK == 0 &&
		      DLPROF_TALLY_FOLDER_COUNT % THREAD_TOP_BLOCK == 0 &&
		      DLPROF_TALLY_KERNEL_COUNT % THREAD_TOP_BLOCK == 0, "");

#define THREAD_IMAGE_MAX   4
#define THREAD_DECODER_MAX 32

/* The batch that a thread loads, by the numbers that its records have. */
struct thread_load {
	uint64_t stream; /* 0: no batch */
	uint32_t generation, task;
};

/* Where a thread is: in which call, load and batch. Without padding, for memcmp(). */
struct thread_place {
	uintptr_t frame_address;
	struct thread_load load;
	uint64_t boundary_count;
	uint32_t depth, load_depth;
};

struct thread_image {
	/* The members below are used for each row of pixels, so they share a cache line. */
	alignas(64) const void *handle;
	const void *input;	/* next byte of the input at the last check */
	uint64_t input_bytes;	/* bytes of input left at the last check */
	uint64_t taken_bytes;	/* bytes taken since the image started */

	uint32_t library;
	bool counted;
	struct dlprof_tally *tally; /* NULL: width and tally are unknown yet */
	uint64_t pixels;
	uint64_t pending_ns;
	uint64_t pending_bytes;

	uint64_t begin_ticks;	/* 0: not started */
	uint64_t inner_ticks;	/* inner_ticks of the frame around the image, at its start */
	struct thread_place place;
};

#define THREAD_PEER_MAX 4

/* A descriptor for which a load waited, and the tally of such waits. */
struct thread_peer {
	int fd;
	uint32_t version;
	struct dlprof_tally *tally; /* NULL: free */
};

#define THREAD_LOCK_BYTES 96

/* A file lock that the thread tried in vain to take, and how long it has slept since then. */
struct thread_tried {
	char lock[THREAD_LOCK_BYTES]; /* the end of the lock's path; "": none */
	uint64_t count, ns;
};

#define THREAD_RANGE_MAX 4

struct thread_range {
	uint64_t begin_ns;
	bool kept;
	bool step;
	char label[DLPROF_MARK_BYTES];
};

struct thread_parts {
	uint64_t sample_ns;
	/* fetches of tensors' file descriptors since the last message began to arrive */
	uint64_t fetch_ns, fetch_count;
	/* wall and CPU time of the fetches of which the CPU time was measured */
	uint64_t timed_ns, timed_cpu_ns;
	uint32_t load_depth;	/* load_depth when the wait began; loads in it are deeper */
	bool is_iter;
};

/* The batch with which the thread is at work in a step; stream 0: none. */
struct thread_batch {
	uint64_t stream;
	uint32_t generation, task;
	bool is_over;
};

struct thread_training {
	struct thread_batch batch;
	struct thread_batch outer; /* if loops over loaders are nested: batch of the outer loop */
	/* up to this time the step is divided into parts; 0: the thread waits, or has no step */
	uint64_t since_ns;
	uint64_t rest_ns;      /* time that belongs to no part yet: the next part may get it */
	enum dlprof_part part; /* DLPROF_PART_MAX: the thread is in no part */
	uint32_t call_depth;
	uint32_t optimizer_depth;
	bool has_run; /* a backward pass or an optimizer has run in this step */
	bool is_seen; /* `told` has data to record */
	struct dlprof_parts told;
};

/* What the kernel had counted for a thread at `at_ns`. switches <= 0: it does not count them. */
struct thread_used {
	uint64_t at_ns, cpu_ns;
	int64_t pauses, switches;
	uint32_t blocks, faults; /* read from storage: blocks by calls, pages by page faults */
};

#define THREAD_NAMED_MAX 16

/* A recently used tally of a decoder. A thread has several, as widths of images alternate. */
struct thread_decoder {
	struct dlprof_tally *tally;
	const char *library;
	const char *format;
	uint64_t class;
	/* tally and library of the Python call around this decoder; NULL: not looked up yet */
	struct dlprof_tally *around;
	const char *around_library;
};

/* A wait by queries in a row (polls.h). */
struct thread_poll {
	uint64_t begin_ns, end_ns; /* begin_ns 0: there is no wait */
	uint64_t asked_ns; /* when the last query returned */
	uint64_t cpu_ns; /* the thread's CPU time at asked_ns; 0: not known */
	uint32_t step;
	uint8_t kind;
	bool unfinished; /* the last query found work unfinished */
};

/* A thread. Members that each operation needs come first, together in few cache lines. */
struct thread {
	alignas(64) uint32_t life;	/* thread_life when the slot was claimed */
	uint32_t quick_life;		/* `life` if quick.h may be used, else 0 */
	struct dlprof_slot *slot;
	struct thread_frame *frame;
	struct thread_image *started;	/* the newest image being decoded; NULL: none */
	struct dlprof_tally *tallies;
	/* stack address of the innermost Python call of a decoder (boundary.c); 0: none */
	uintptr_t boundary_address;
	uint32_t load_depth;
	bool boundary_inflates;		/* the outermost Python call unpacks data, but no image */
	uint32_t import_depth;
	bool busy; /* a record is being written, so a signal handler can write none now */

	alignas(64) struct thread_visit visit;
	/* decoder that the outermost Python call of a decoder used last; NULL: none */
	struct thread_decoder *decoded;

	alignas(64) struct thread_frame frames[1 + THREAD_FRAME_MAX]; /* [0] is never popped */

	alignas(64) const void *image_handles[THREAD_IMAGE_MAX];
	uint32_t image_next;		/* the image to give up next if none is free */
	int32_t worker;
	struct thread_load load;
	uint64_t boundary_count; /* number of decodes when the outermost Python call began */
	uint64_t sample_floor_ns;	/* faster samples are not listed */

	uint32_t tid;
	struct dlprof_event *ring;
	uint64_t ring_capacity;

	uint8_t named[THREAD_NAMED_MAX]; /* indexes of the named tallies that were used last */
	struct thread_step steps[THREAD_STEP_MAX];
	struct thread_top files, folders, kernels;

	uint32_t fetch_count;		/* number of loads whose tensors were counted or skipped */

	/* how many slow operations of each class may still be recorded (span.c) */
	uint64_t slow_credit_ns;
	uint8_t slow_credits[DLPROF_CLASS_MAX];

	struct thread_image images[THREAD_IMAGE_MAX];
	struct thread_decoder decoders[THREAD_DECODER_MAX];
	struct thread_peer peers[THREAD_PEER_MAX];
	struct thread_tried tried;

	uint32_t launch_count;
	uint32_t launch_step;
	uint64_t launch_begin_ns, launch_end_ns;
	struct thread_poll poll;

	struct thread_range ranges[THREAD_RANGE_MAX];	/* the outermost open NVTX ranges */
	uint32_t range_depth;		/* number of all open ranges */
	uint64_t range_last_ns;		/* when the newest open range began */

	bool receiving;			/* the next read from a pipe is the begin of a message */
	uint64_t receive_begin_ns;
	struct thread_parts parts;
	/* since this time the thread has only freed memory; 0: it has done something else */
	uint64_t free_since_ns;
	uint64_t free_ns; /* time spent freeing memory since the newest batch came */
	struct thread_used used; /* counts when the clock of CPU time was last read */
	struct thread_used free_used; /* counts when the newest batch came; cpu_ns 0: not known */
	uint32_t free_watched;	/* number of further batches for which free_used is set */
	bool pins;			/* the thread receives batches for another thread */
	struct account *account; /* NULL: none yet */
	/* an iter() whose epoch is not recorded yet; iter_sample_ns: its choice of samples */
	uint64_t iter_begin_ns, iter_ns, iter_sample_ns;
	/* waits that ended in an exception, to be added to the next batch or epoch */
	uint64_t failed_begin_ns, failed_ns;

	struct {
		struct tfdata_making *making;
		const void *asked[2];	  /* iterators being asked, the innermost one first */
		uint64_t end_ns, took_ns;
	} tfdata;

	alignas(64) uint64_t waited_ns;
	uint32_t wait_depth;
	uint32_t wait_count;
	struct thread_training training;
	struct { /* members for an asker or taker (batch/ahead.h) */
		/* asker: number of this thread as an asker, 0: it is none */
		uint32_t asker, train_count, held_count;
		bool asks_itself;
		/* takes_within: the thread is in a library that is known to have an asker */
		bool takes, takes_within;
		/* looked: queue looked_key was found empty; looked_apart: again, after a pause */
		bool looked, looked_apart;
		const void *looked_key;
		uint64_t looked_begin_ns, looked_until_ns;
		uint32_t count;   /* number of waits of this thread since since_ns */
		uint64_t main_ns; /* CPU time of the main thread when this thread first waited */
		uint64_t own_ns;  /* CPU time of this thread between its waits */
		uint64_t exit_ns; /* CPU time of this thread when its last wait ended */
		/* length of the thread's waits, and CPU time that the main thread used in them */
		uint64_t waited_ns, within_ns;
		uint64_t since_ns;
	} ahead;
};

static_assert(offsetof(struct thread, training.since_ns) % 64 == 0 &&
		      offsetof(struct thread, ahead.held_count) / 64 ==
			      offsetof(struct thread, training.since_ns) / 64 + 1,
	      "what a step touches lies in two neighbouring cache lines");

/* number of this life: 1 when the process begins to record, and 1 more in each forked child */
extern HIDDEN uint32_t thread_life;

/* Call this before any other function of this file. Fails if there is no memory. */
int thread_begin_life(void);

extern HIDDEN __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

/* Returns false in a child that was forked after `life` was read. */
bool thread_is_in_life(uint32_t life);

/* Takes a lock for code without a GIL. Never wait while you hold it. A fork frees it. */
static inline void thread_lock(_Atomic uint32_t *lock)
{
	const uint32_t ours = thread_life + 1; /* never 0 */
	uint32_t before = *lock;

	for (int try = 0; before == ours || !atomic_compare_exchange_weak(lock, &before, ours);
	     try++) {
		sys_pause(try, 100);
		before = *lock;
	}
}

static inline void thread_unlock(_Atomic uint32_t *lock)
{
	atomic_store(lock, 0);
}

static inline uint32_t thread_depth(const struct thread *thread)
{
	return (uint32_t)(thread->frame - thread->frames);
}

static inline bool thread_is_full(const struct thread *thread)
{
	return unlikely(thread->frame == &thread->frames[THREAD_FRAME_MAX]);
}

/* Returns this thread if it has a slot in this life, else NULL. */
static inline struct thread *thread_known(void)
{
	struct thread *thread = thread_self;

	return likely(thread && thread->life == thread_life) ? thread : NULL;
}

/* Returns a new record, with the worker's number and the batch that the thread loads. */
static inline struct dlprof_event thread_event(const struct thread *thread,
					       enum dlprof_event_kind kind)
{
	return (struct dlprof_event){
		.kind = (uint16_t)kind,
		.worker = thread->worker,
		.stream = thread->load.stream,
		.generation = thread->load.generation,
		.task = thread->load.task,
	};
}

struct thread *thread_claim(void);

void thread_reset(struct thread *thread, struct dlprof_slot *slot, uint32_t tid);

/* Returns this thread if it loads a batch, else NULL. Fast, for calls that all threads make. */
static inline struct thread *thread_loading(void)
{
	struct thread *thread = thread_known();

	return unlikely(thread && thread->load_depth) ? thread : NULL;
}

/* Returns this thread if it waits for a batch and loads none itself, else NULL. */
static inline struct thread *thread_waiting(void)
{
	struct thread *thread = thread_known();

	return thread && thread->wait_depth && thread->load_depth == thread->parts.load_depth
		       ? thread
		       : NULL;
}

/* Returns this thread; NULL if the process does not record, or no slot is free. */
static inline struct thread *thread_get(void)
{
	struct thread *thread = thread_known();

	return likely(thread) ? thread : thread_claim();
}

/* Returns true if the ring has room for `count` records, which a full disk may still prevent. */
static inline bool thread_has_room(const struct thread *thread, uint32_t count)
{
	const struct dlprof_slot *slot = thread->slot;

	return atomic_load_explicit(&slot->head, memory_order_relaxed) -
		       atomic_load_explicit(&slot->tail, memory_order_acquire) + count <=
	       DLPROF_RING_CAPACITY;
}

/* Writes a record into the ring. If there is no room, the record is counted as lost. */
void thread_push(struct thread *thread, const struct dlprof_event *event);
