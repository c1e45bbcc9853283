/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - what one thread of the host is doing, seen from the wrappers.
 *
 * The only thread-local variable of the shim is one pointer, initial-exec: general TLS may
 * allocate on its first touch, and a wrapper can be inside an allocator.
 */
#pragma once

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "dlprof/segment.h"

#define THREAD_FRAME_MAX 24

#define THREAD_NEVER_TICKS (UINT64_C(1) << 60)	/* no call takes so long */

/* One timed call in progress. `address` is of its wrapper's stack frame; see span.c. */
struct thread_frame {
	uintptr_t address;
	uint64_t inner_ticks;
	uint64_t decoder;	/* a mark of a decoder, whose inner calls are its own affair;
				 * unit.c; 0: none */
};

#define THREAD_STEP_MAX 32

/* A step of the dataset that this thread has met: class or function, only for comparing. */
struct thread_step {
	const void *key;
	struct dlprof_tally *tally;
};

extern HIDDEN const _Atomic uint32_t thread_no_version; /* a version that no path has */

/* The data file of this thread's last operation, found once and then only added to. */
struct thread_visit {
	int fd;			/* -1: none */
	uint32_t version;	/* version of the descriptor's meaning: fd_path_version() */
	const _Atomic uint32_t *quick;	/* where that version is, once the file is known to be
					 * data */
	struct dlprof_tally *file;
	struct dlprof_tally *folder;
	/* The first file found anew in this sample, and in the sample before; NULL: none. */
	const struct dlprof_tally *sample_first, *sample_before;
	uint64_t count, ns, bytes;	/* what its folder already has of the file */
};

#define THREAD_TOP_MAX	 64
#define THREAD_TOP_BLOCK 16

/*
 * Some of the slot's tallies by sum, ready to be given up. A new file's name is looked for and put
 * in for each sample, so few lines of the cache tell where.
 */
struct thread_top {
	alignas(64) struct dlprof_tally *tallies;
	uint32_t count;		/* a multiple of the block */
	enum dlprof_tally_kind kind;
	uint64_t lightest_ns[THREAD_TOP_MAX / THREAD_TOP_BLOCK];	/* lightest of each block */
	uint8_t lightest[THREAD_TOP_MAX / THREAD_TOP_BLOCK];
	alignas(64) uint16_t tags[THREAD_TOP_MAX];	/* tags from hashes of the names; 0: free */
	uint64_t ns[THREAD_TOP_MAX];			/* when they were last visited */
};

static_assert(DLPROF_TALLY_FILE_COUNT <= THREAD_TOP_MAX &&
		      DLPROF_TALLY_FOLDER_COUNT <= THREAD_TOP_MAX &&
		      DLPROF_TALLY_KERNEL_COUNT <= THREAD_TOP_MAX &&
		      DLPROF_TALLY_FILE_COUNT % THREAD_TOP_BLOCK == 0 &&
		      DLPROF_TALLY_FOLDER_COUNT % THREAD_TOP_BLOCK == 0 &&
		      DLPROF_TALLY_KERNEL_COUNT % THREAD_TOP_BLOCK == 0, "");

#define THREAD_IMAGE_MAX   4
#define THREAD_DECODER_MAX 32

/* Where a thread is: its timed call, Python call that decodes, and load. It has no padding. */
struct thread_place {
	uintptr_t frame_address;
	uint64_t stream;
	uint64_t boundary_count;
	uint32_t depth, load_depth, generation, task;
};

/* An image that takes several calls; see decode/sequence.h. */
struct thread_image {
	/* One line of the cache, which each row of pixels looks at: */
	alignas(64) const void *handle;	/* as in thread.image_handles */
	const void *input;	/* the library's place in its input at the last look */
	uint64_t input_bytes;	/* bytes of input left then */
	uint64_t taken_bytes;	/* taken since the image started */

	uint32_t library;
	bool counted;
	struct dlprof_tally *tally; /* NULL: the width is not known yet, and the bytes are
				     * pending */
	uint64_t pixels;
	uint64_t pending_ns;
	uint64_t pending_bytes;

	/* Between the image's start and its end: */
	uint64_t begin_ticks;	/* 0: it has not started */
	uint64_t inner_ticks;	/* time inside of the call around it, at the start */
	struct thread_place place;
};

#define THREAD_PEER_MAX 4

/* A descriptor that this thread waited for in a load, and the tally of its other side. */
struct thread_peer {
	int fd;
	uint32_t version;	/* version of the descriptor's meaning: fd_path_version() */
	struct dlprof_tally *tally; /* NULL: this place is free */
};

#define THREAD_RANGE_MAX 4

/* A range of NVTX that the thread has opened; nvtx.c. */
struct thread_range {
	uint64_t begin_ns;
	bool kept;	/* it becomes a mark */
	bool step;	/* it tells where steps begin */
	char label[DLPROF_MARK_BYTES];
};

/* What is known of the parts of a wait for a batch; event.h. */
struct thread_parts {
	uint64_t sample_ns;
	uint64_t fetch_ns, fetch_count;	/* since the begin of the last message */
	uint64_t timed_ns, timed_cpu_ns; /* calls whose CPU time is known, and their times */
	uint32_t load_depth;	/* depth of the wait itself: what a load within it does is the
				 * load's */
};

/* The batch in whose step a thread is; stream 0: none. */
struct thread_batch {
	uint64_t stream;
	uint32_t generation, task;
	bool is_over; /* the epoch has ended: this is no batch's step */
};

/* The parts of the step that the thread is in; batch/training.c. */
struct thread_training {
	uint64_t since_ns; /* time since then has no part yet; 0: it waits, or has no step */
	uint64_t rest_ns;  /* time before that in no part, until the next part decides */
	struct thread_batch batch;
	struct thread_batch outer; /* the batch before its iterator was asked */
	enum dlprof_part part;     /* part that it is in; DLPROF_PART_MAX: none */
	uint32_t call_depth;       /* calls under way that are parts of the step */
	uint32_t optimizer_depth;
	bool has_run; /* a backward pass or an optimizer ran since the batch was handed out */
	bool is_seen; /* there is something to be told */
	struct dlprof_parts told;
};

#define THREAD_NAMED_MAX 16

/* A tally that a decode library counted into lately, as images of several widths take turns. */
struct thread_decoder {
	struct dlprof_tally *tally;
	const char *library;
	const char *format;
	uint64_t class;
	/* The same for the Python call around it; NULL: not known yet. */
	struct dlprof_tally *around;
	const char *around_library;
};

/*
 * A sample drives our memory out of the caches each time, so what is used together lies together,
 * and what each operation uses comes first.
 */
struct thread {
	alignas(64) uint32_t life;	/* thread_life when it was claimed */
	uint32_t quick_life;		/* the same while quick.h may be used, else 0 */
	struct dlprof_slot *slot;
	struct thread_frame *frame;	/* innermost timed call */
	struct thread_image *started;	/* the last image that has not ended; NULL: none */
	struct dlprof_tally *tallies;	/* tallies of the slot; NULL: none yet. tally.c */
	/* Stack address of the innermost Python call that decodes; 0: there is none. */
	uintptr_t boundary_address;
	uint32_t load_depth;		/* 0: no batch is being loaded */
	bool boundary_inflates;		/* the outermost such call reads packed data, not images */
	uint32_t import_depth;		/* modules that are being imported:
					 * interpreter/importing.h */
	bool busy;			/* a record is being written, which a signal handler must
					 * not */

	alignas(64) struct thread_visit visit;
	struct thread_decoder *decoded;	/* the last within a boundary, or NULL */

	alignas(64) struct thread_frame frames[1 + THREAD_FRAME_MAX]; /* [0] lies above any stack */

	alignas(64) const void *image_handles[THREAD_IMAGE_MAX]; /* handles of `images`; NULL:
								  * free */
	uint32_t image_next;		/* image to give up where none is free */
	/* The batch that this thread is loading, set by the loader's wrappers. */
	int32_t worker;
	uint32_t generation;
	uint32_t task;
	uint64_t stream;		/* 0: none */
	uint64_t boundary_count;	/* decodes before the outermost such call began */
	uint64_t sample_floor_ns;	/* a listed sample must be slower than this */

	uint32_t tid;
	struct dlprof_event *ring;	/* where records go: the slot's `near` or `far` */
	uint64_t ring_capacity;

	uint8_t named[THREAD_NAMED_MAX]; /* places of named tallies that were found last */
	struct thread_step steps[THREAD_STEP_MAX];
	struct thread_top files, folders, kernels;

	uint32_t fetch_count;		/* loads whose batch made.c has looked at */

	/* Slow operations that may still be kept one by one; see span.c. */
	uint64_t slow_credit_ns;
	uint8_t slow_credits[DLPROF_CLASS_MAX];

	struct thread_image images[THREAD_IMAGE_MAX];
	struct thread_decoder decoders[THREAD_DECODER_MAX];
	struct thread_peer peers[THREAD_PEER_MAX]; /* table by descriptor; waits.c */

	/* Launches of kernels that were counted and not sent yet; launches.h. */
	uint32_t launch_count;
	uint32_t launch_step;	/* the step that they were in: launches_steps */
	uint64_t launch_begin_ns, launch_end_ns;

	struct thread_range ranges[THREAD_RANGE_MAX];	/* the outermost open ones */
	uint32_t range_depth;		/* number of all open ones */
	uint64_t range_last_ns;		/* begin of the last open range */

	/* Its waits for batches: */
	uint32_t wait_depth;
	uint32_t wait_count;		/* waits that are over */
	bool receiving;			/* the next read of a pipe starts a message */
	uint64_t receive_begin_ns;
	uint64_t waited_ns;
	struct thread_parts parts;	/* parts of the innermost wait */
	uint64_t free_since_ns;		/* since when it does nothing but free; freeing.h; 0: it
					 * does not */
	uint64_t free_ns;		/* time of freeing since its last batch was handed out */
	bool pins;			/* it receives batches for another thread; pinning.h */
	struct account *account; /* summary.h; NULL: none yet */
	struct thread_training training;
	uint64_t iter_begin_ns, iter_ns; /* the iter() of an epoch that is not announced yet */
	/* Waits that raised since the last batch, which the next batch or epoch gets. */
	uint64_t failed_begin_ns, failed_ns;

	struct { /* python/loaders/tfdata.c: TensorFlow's iterators that it makes, or asks */
		struct tfdata_making *making;
		const void *asked[2];	  /* innermost first */
		uint64_t end_ns, took_ns; /* of the last answer; 0: nothing is recorded */
	} tfdata;
	struct { /* batch/ahead.c: batches that one thread takes from a loader for another one */
		uint32_t asker, train_count, held_count; /* asker: its number; 0: it is none */
		bool asks_itself; /* its batches are its own */
		bool takes, takes_within; /* others' batches; in a library known for that */
		bool looked, looked_apart; /* in vain, for an item of looked_key; with pauses */
		const void *looked_key;
		uint64_t looked_begin_ns, looked_until_ns;
		/* What this thread and the main one do between its waits: */
		uint32_t count;
		uint64_t main_ns, own_ns, exit_ns; /* main_ns: CPU time of the main thread before */
		uint64_t waited_ns, within_ns; /* its waits, and the main thread's CPU in them */
		uint64_t since_ns; /* since when waits are counted: its first batch */
	} ahead;
};

/* The number of this process's life: 1 when it begins to record, one more in each forked child. */
extern HIDDEN uint32_t thread_life;

/* Begins a life of this process: it begins to record, or does so again in a forked child. */
void thread_begin_life(void);

extern HIDDEN __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

/*
 * Whether this still is the process and life in which `life` was read. Not in a child that was
 * forked meanwhile, even if it records by now: its parent's `struct thread` must not be touched.
 */
bool thread_is_in_life(uint32_t life);

/*
 * Takes a lock among threads that may have no GIL, not to be held across anything that waits. It
 * holds the life of its taker, so that a fork does not leave its parent's lock taken.
 */
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

/* The slow path of thread_get(). */
struct thread *thread_claim(void);

/* Makes `thread` the private side of `slot`, which thread `tid` has claimed. */
void thread_reset(struct thread *thread, struct dlprof_slot *slot, uint32_t tid);

/*
 * This thread's state if it is loading a batch, else NULL. For calls that any thread makes all the
 * time (locks, polls, stat), and that matter in a load only.
 */
static inline struct thread *thread_loading(void)
{
	struct thread *thread = thread_self;

	if (likely(!thread || thread->life != thread_life || !thread->load_depth))
		return NULL;
	return thread;
}

/* This thread's state if it waits for a batch and is not in a load of its own; else NULL. */
static inline struct thread *thread_waiting(void)
{
	struct thread *thread = thread_self;

	if (!thread || thread->life != thread_life || !thread->wait_depth ||
	    thread->load_depth != thread->parts.load_depth)
		return NULL;
	return thread;
}

/* This thread's state; only while the process records. NULL: there is no slot, do not record. */
static inline struct thread *thread_get(void)
{
	struct thread *thread = thread_self;

	if (likely(thread && thread->life == thread_life))
		return thread;
	return thread_claim();
}

/* Also true where the disk has no room: then the record is counted as lost. */
static inline bool thread_has_room_for(const struct thread *thread, uint32_t count)
{
	const struct dlprof_slot *slot = thread->slot;

	return atomic_load_explicit(&slot->head, memory_order_relaxed) -
		       atomic_load_explicit(&slot->tail, memory_order_acquire) + count <=
	       DLPROF_RING_CAPACITY;
}

static inline bool thread_has_room(const struct thread *thread)
{
	return thread_has_room_for(thread, 1);
}

/* Appends a record to the thread's ring; counts it as lost when the drain is too far behind. */
void thread_push(struct thread *thread, const struct dlprof_event *event);
