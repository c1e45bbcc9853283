/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - what one thread of the host is doing, as the wrappers see it.
 *
 * The only thread-local variable of the shim is one pointer, initial-exec: general TLS may allocate
 * on its first use, and a wrapper can be inside an allocator.
 */
#pragma once

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "dlprof/segment.h"

#define THREAD_FRAME_MAX 24

#define THREAD_NEVER_TICKS (UINT64_C(1) << 60)	/* longer than any call */

/* A timed call in progress. `address` is that of its wrapper's stack frame; see span.c. */
struct thread_frame {
	uintptr_t address;
	uint64_t inner_ticks;
	uint64_t decoder;	/* unit.c: decoder whose inner calls are not timed; 0: none */
};

#define THREAD_STEP_MAX 32

/* A step of the dataset that this thread ran; `key`, a class or function, is only compared. */
struct thread_step {
	const void *key;
	struct dlprof_tally *tally;
};

extern HIDDEN const _Atomic uint32_t thread_no_version; /* a version that no path has */

/* The data file of this thread's last operation, looked up once; then only its tallies grow. */
struct thread_visit {
	int fd;			/* descriptor of the file; -1: none */
	uint32_t version;	/* fd_path_version() of the descriptor */
	/* where the version is, once the file is known to be data */
	const _Atomic uint32_t *quick;
	struct dlprof_tally *file;
	struct dlprof_tally *folder;
	/* First file that was looked up in this sample, and in the sample before; NULL: none. */
	const struct dlprof_tally *sample_first, *sample_before;
	uint64_t count, ns, bytes;	/* what the folder's tally already has of the file */
};

#define THREAD_TOP_MAX	 64
#define THREAD_TOP_BLOCK 16

/*
 * Tallies of one kind, of which the smallest gives way to a new name. A new file's name is searched
 * and added for each sample, so the search must read few cache lines.
 */
struct thread_top {
	alignas(64) struct dlprof_tally *tallies;
	uint32_t count;		/* a multiple of THREAD_TOP_BLOCK */
	enum dlprof_tally_kind kind;
	/* time of a block's smallest tally */
	uint64_t lightest_ns[THREAD_TOP_MAX / THREAD_TOP_BLOCK];
	uint8_t lightest[THREAD_TOP_MAX / THREAD_TOP_BLOCK];
	alignas(64) uint16_t tags[THREAD_TOP_MAX];	/* parts of the names' hashes; 0: free */
	uint64_t ns[THREAD_TOP_MAX];			/* time of each tally when last left */
};

static_assert(DLPROF_TALLY_FILE_COUNT <= THREAD_TOP_MAX &&
		      DLPROF_TALLY_FOLDER_COUNT <= THREAD_TOP_MAX &&
		      DLPROF_TALLY_KERNEL_COUNT <= THREAD_TOP_MAX &&
		      DLPROF_TALLY_FILE_COUNT % THREAD_TOP_BLOCK == 0 &&
		      DLPROF_TALLY_FOLDER_COUNT % THREAD_TOP_BLOCK == 0 &&
		      DLPROF_TALLY_KERNEL_COUNT % THREAD_TOP_BLOCK == 0, "");

#define THREAD_IMAGE_MAX   4
#define THREAD_DECODER_MAX 32

/* The calls around a thread: its timed call, decoding Python call, and load. Without padding. */
struct thread_place {
	uintptr_t frame_address;
	uint64_t stream;
	uint64_t boundary_count;
	uint32_t depth, load_depth, generation, task;
};

/* An image that takes several calls; see decode/sequence.h. */
struct thread_image {
	/* One cache line, which is read for each row of pixels: */
	alignas(64) const void *handle;	/* handle, as in thread.image_handles */
	const void *input;	/* library's place in its input when last checked */
	uint64_t input_bytes;	/* bytes of input left then */
	uint64_t taken_bytes;	/* input bytes read since the image started */

	uint32_t library;
	bool counted;
	struct dlprof_tally *tally; /* NULL: the width, and with it the tally, is not known yet */
	uint64_t pixels;
	uint64_t pending_ns;
	uint64_t pending_bytes;

	/* Set between the image's start and its end: */
	uint64_t begin_ticks;	/* 0: the image has not started */
	uint64_t inner_ticks;	/* time inside the call around the image, when it started */
	struct thread_place place;
};

#define THREAD_PEER_MAX 4

/* A descriptor that this thread waited for in a load, and the tally of its peer. */
struct thread_peer {
	int fd;
	uint32_t version;	/* fd_path_version() of the descriptor */
	struct dlprof_tally *tally; /* NULL: this place is free */
};

#define THREAD_RANGE_MAX 4

/* nvtx.c: an NVTX range that the thread has opened. */
struct thread_range {
	uint64_t begin_ns;
	bool kept;	/* the range becomes a mark */
	bool step;	/* the range shows where steps begin */
	char label[DLPROF_MARK_BYTES];
};

/* What is known of the parts of a wait for a batch; see dlprof/event.h. */
struct thread_parts {
	uint64_t sample_ns;
	/* loads since the begin of the last message */
	uint64_t fetch_ns, fetch_count;
	/* wall and CPU time of those loads that were measured */
	uint64_t timed_ns, timed_cpu_ns;
	uint32_t load_depth;	/* load_depth of the wait: a load within it has a larger one */
};

/* The batch in whose step a thread is; stream 0: none. */
struct thread_batch {
	uint64_t stream;
	uint32_t generation, task;
	bool is_over; /* the epoch has ended: this is no batch's step */
};

/* batch/training.c: the parts of the step that the thread is in. */
struct thread_training {
	/* begin of the time without a part; 0: the thread waits, or has no step */
	uint64_t since_ns;
	uint64_t rest_ns;  /* earlier time without a part: the next part decides */
	struct thread_batch batch;
	struct thread_batch outer; /* the batch before the iterator was asked */
	enum dlprof_part part;     /* current part; DLPROF_PART_MAX: none */
	uint32_t call_depth;       /* calls under way that are parts of the step */
	uint32_t optimizer_depth;
	bool has_run; /* a backward pass or an optimizer ran since the batch was delivered */
	bool is_seen; /* `told` has something to send */
	struct dlprof_parts told;
};

#define THREAD_NAMED_MAX 16

/* A tally that a decode library used lately, as images of several widths take turns. */
struct thread_decoder {
	struct dlprof_tally *tally;
	const char *library;
	const char *format;
	uint64_t class;
	/* Tally and library of the Python call around the decoder; NULL: not known yet. */
	struct dlprof_tally *around;
	const char *around_library;
};

/*
 * The state of a thread. A sample drives this memory out of the caches each time, so what is used
 * together lies together, and what each operation uses comes first.
 */
struct thread {
	alignas(64) uint32_t life;	/* thread_life when the slot was claimed */
	uint32_t quick_life;		/* `life` while quick.h may be used, else 0 */
	struct dlprof_slot *slot;
	struct thread_frame *frame;	/* innermost timed call */
	struct thread_image *started;	/* newest image that has not ended; NULL: none */
	struct dlprof_tally *tallies;	/* tally.c: tallies of the slot; NULL: none yet */
	/* Stack address of the innermost Python call that decodes; 0: there is none. */
	uintptr_t boundary_address;
	uint32_t load_depth;		/* loads under way; 0: no batch is being loaded */
	bool boundary_inflates;		/* the outermost such call reads packed data, not images */
	uint32_t import_depth;		/* imports under way: interpreter/importing.h */
	bool busy;			/* a record is being written; a signal handler's is lost */

	alignas(64) struct thread_visit visit;
	/* newest decoder within a Python call that decodes, or NULL */
	struct thread_decoder *decoded;

	alignas(64) struct thread_frame frames[1 + THREAD_FRAME_MAX]; /* [0] lies above any stack */

	/* handles of `images` */
	alignas(64) const void *image_handles[THREAD_IMAGE_MAX];
	uint32_t image_next;		/* image to give up if none is free */
	/* The batch that this thread is loading, set by the loader's wrappers. */
	int32_t worker;
	uint32_t generation;
	uint32_t task;
	uint64_t stream;		/* 0: no batch */
	uint64_t boundary_count;	/* decodes before the outermost such Python call began */
	uint64_t sample_floor_ns;	/* a sample must be slower than this to be listed */

	uint32_t tid;
	struct dlprof_event *ring;	/* ring for the next record: `near` or `far` of the slot */
	uint64_t ring_capacity;

	uint8_t named[THREAD_NAMED_MAX]; /* places of the named tallies found last */
	struct thread_step steps[THREAD_STEP_MAX];
	struct thread_top files, folders, kernels;

	uint32_t fetch_count;		/* loads whose batch made.c has looked at */

	/* Slow operations that may still be listed one by one; see span.c. */
	uint64_t slow_credit_ns;
	uint8_t slow_credits[DLPROF_CLASS_MAX];

	struct thread_image images[THREAD_IMAGE_MAX];
	struct thread_decoder decoders[THREAD_DECODER_MAX];
	struct thread_peer peers[THREAD_PEER_MAX]; /* waits.c: table by descriptor */

	/* launches.h: launches of kernels that were counted and not sent yet. */
	uint32_t launch_count;
	uint32_t launch_step;	/* launches_steps when they were launched */
	uint64_t launch_begin_ns, launch_end_ns;

	struct thread_range ranges[THREAD_RANGE_MAX];	/* the outermost open ranges */
	uint32_t range_depth;		/* number of all open ranges */
	uint64_t range_last_ns;		/* begin of the newest open range */

	/* Waits of the thread for batches: */
	uint32_t wait_depth;
	uint32_t wait_count;		/* waits that have ended */
	bool receiving;			/* the next read of a pipe starts a message */
	uint64_t receive_begin_ns;
	uint64_t waited_ns;
	struct thread_parts parts;	/* parts of the innermost wait */
	/* since when the thread only frees memory; freeing.h; 0: it does not */
	uint64_t free_since_ns;
	uint64_t free_ns;		/* time of freeing since its newest batch was delivered */
	bool pins;			/* pinning.h: the thread receives batches for another one */
	struct account *account; /* summary.h; NULL: none yet */
	struct thread_training training;
	uint64_t iter_begin_ns, iter_ns; /* iter() of an epoch that is not announced yet */
	/* Waits that raised since the last batch; they count for the next batch or epoch. */
	uint64_t failed_begin_ns, failed_ns;

	/* python/loaders/tfdata.c: TensorFlow's iterators */
	struct {
		struct tfdata_making *making;
		const void *asked[2];	  /* innermost first */
		uint64_t end_ns, took_ns; /* end and length of the last answer */
	} tfdata;
	struct { /* batch/ahead.c: batches that one thread takes from a loader for another one */
		uint32_t asker, train_count, held_count; /* asker: its number; 0: it is none */
		bool asks_itself; /* batches that it asks for are its own */
		/* takes others' batches; takes_within: in a library known for that */
		bool takes, takes_within;
		/* looked in vain for an item of looked_key; looked_apart: with pauses */
		bool looked, looked_apart;
		const void *looked_key;
		uint64_t looked_begin_ns, looked_until_ns;
		/* Work of this thread and of the main one between this thread's waits: */
		uint32_t count;
		uint64_t main_ns, own_ns, exit_ns; /* main_ns: the main thread's CPU time before */
		/* the thread's waits, and the main thread's CPU time in them */
		uint64_t waited_ns, within_ns;
		uint64_t since_ns; /* begin of counting: its first batch */
	} ahead;
};

/* Number of this process's life: 1 when it begins to record, one more in each forked child. */
extern HIDDEN uint32_t thread_life;

/* Begins a life of this process: it begins to record, or does so again in a forked child. */
void thread_begin_life(void);

extern HIDDEN __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

/*
 * Whether this still is the process and life in which `life` was read. False in a child that was
 * forked meanwhile, even if it records by now: its parent's `struct thread` must not be touched.
 */
bool thread_is_in_life(uint32_t life);

/*
 * Takes a lock among threads that may have no GIL, not to be held across anything that waits. The
 * lock holds its taker's life, so that after a fork the parent's lock does not count as taken.
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

/* Claims a slot for this thread, as the slow path of thread_get(). */
struct thread *thread_claim(void);

/* Makes `thread` the private side of `slot`, which thread `tid` has claimed. */
void thread_reset(struct thread *thread, struct dlprof_slot *slot, uint32_t tid);

/*
 * Returns this thread's state if it is loading a batch, else NULL. For calls that every thread
 * makes all the time (locks, polls, stat), and that matter in a load only.
 */
static inline struct thread *thread_loading(void)
{
	struct thread *thread = thread_self;

	if (likely(!thread || thread->life != thread_life || !thread->load_depth))
		return NULL;
	return thread;
}

/* Returns this thread's state if it waits for a batch and not in a load of its own; else NULL. */
static inline struct thread *thread_waiting(void)
{
	struct thread *thread = thread_self;

	if (!thread || thread->life != thread_life || !thread->wait_depth ||
	    thread->load_depth != thread->parts.load_depth)
		return NULL;
	return thread;
}

/* Returns this thread's state, while the process records. NULL: there is no slot, do not record. */
static inline struct thread *thread_get(void)
{
	struct thread *thread = thread_self;

	if (likely(thread && thread->life == thread_life))
		return thread;
	return thread_claim();
}

/* Whether `count` more records fit; true also on a full disk, where they are counted as lost. */
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

/* Appends a record to the thread's ring; counts it as lost if the drain is too far behind. */
void thread_push(struct thread *thread, const struct dlprof_event *event);
