/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - the state of one thread of the host, as the wrappers see it.
 *
 * The shim's only thread-local variable is a pointer to it, in the initial-exec model: general TLS
 * may allocate on first use, and a wrapper may run inside an allocator.
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

/* A timed call in progress. `address`: its wrapper's stack frame; see span.c. */
struct thread_frame {
	uintptr_t address;
	uint64_t inner_ticks;
	uint64_t decoder;	/* decoder whose inner calls are not timed (unit.c); 0: none */
};

#define THREAD_STEP_MAX 32

/* A named step of the dataset that this thread ran. `key`: its class or function, only compared. */
struct thread_step {
	const void *key;
	struct dlprof_tally *tally;
};

extern HIDDEN const _Atomic uint32_t thread_no_version; /* a version that no path has */

/* The data file of this thread's last operation: further ones only add to its tallies. */
struct thread_visit {
	int fd;			/* descriptor of the file; -1: none */
	uint32_t version;	/* fd_path_version() of the descriptor */
	/* address of that version, once the file is known to be data */
	const _Atomic uint32_t *quick;
	struct dlprof_tally *file;
	struct dlprof_tally *folder;
	/* First file visited in this sample, and in the sample before; NULL: none. */
	const struct dlprof_tally *sample_first, *sample_before;
	uint64_t count, ns, bytes;	/* part of the file's sums that its folder's tally has */
};

#define THREAD_TOP_MAX	 64
#define THREAD_TOP_BLOCK 16

/*
 * Tallies of one kind. A new name replaces the one with the least time. Each sample may add a new
 * file, so the search must read few cache lines.
 */
struct thread_top {
	alignas(64) struct dlprof_tally *tallies;
	uint32_t count;		/* a multiple of THREAD_TOP_BLOCK */
	enum dlprof_tally_kind kind;
	/* for each block, time and place of its smallest tally */
	uint64_t lightest_ns[THREAD_TOP_MAX / THREAD_TOP_BLOCK];
	uint8_t lightest[THREAD_TOP_MAX / THREAD_TOP_BLOCK];
	alignas(64) uint16_t tags[THREAD_TOP_MAX];	/* part of each name's hash; 0: free */
	uint64_t ns[THREAD_TOP_MAX]; /* time of each tally when it was last used */
};

static_assert(DLPROF_TALLY_FILE_COUNT <= THREAD_TOP_MAX &&
		      DLPROF_TALLY_FOLDER_COUNT <= THREAD_TOP_MAX &&
		      DLPROF_TALLY_KERNEL_COUNT <= THREAD_TOP_MAX &&
		      DLPROF_TALLY_FILE_COUNT % THREAD_TOP_BLOCK == 0 &&
		      DLPROF_TALLY_FOLDER_COUNT % THREAD_TOP_BLOCK == 0 &&
		      DLPROF_TALLY_KERNEL_COUNT % THREAD_TOP_BLOCK == 0, "");

#define THREAD_IMAGE_MAX   4
#define THREAD_DECODER_MAX 32

/* Where a thread is: its timed call, decoding Python call and load. No padding, for memcmp(). */
struct thread_place {
	uintptr_t frame_address;
	uint64_t stream;
	uint64_t boundary_count;
	uint32_t depth, load_depth, generation, task;
};

/* An image that takes several calls of its library; see decode/sequence.h. */
struct thread_image {
	/* One cache line, which is read for each row of pixels: */
	alignas(64) const void *handle;	/* handle, as in thread.image_handles */
	const void *input;	/* where the library was in its input when last checked */
	uint64_t input_bytes;	/* bytes of input left then */
	uint64_t taken_bytes;	/* input bytes read since the image started */

	uint32_t library;
	bool counted;
	struct dlprof_tally *tally; /* NULL: width and tally are not known yet */
	uint64_t pixels;
	uint64_t pending_ns;
	uint64_t pending_bytes;

	/* Set between the image's start and its end: */
	uint64_t begin_ticks;	/* 0: the image has not started */
	uint64_t inner_ticks;	/* the outer call's inner time when the image started */
	struct thread_place place;
};

#define THREAD_PEER_MAX 4

/* A descriptor that this thread waited for in a load, and the tally of what is behind it. */
struct thread_peer {
	int fd;
	uint32_t version;	/* fd_path_version() of the descriptor */
	struct dlprof_tally *tally; /* NULL: this place is free */
};

#define THREAD_RANGE_MAX 4

/* An NVTX range that the thread has open; nvtx.c. */
struct thread_range {
	uint64_t begin_ns;
	bool kept;	/* the range becomes a mark */
	bool step;	/* the range shows where steps begin */
	char label[DLPROF_MARK_BYTES];
};

/* Parts of a wait for a batch; see struct dlprof_batch. */
struct thread_parts {
	uint64_t sample_ns;
	/* fetches of tensors since the begin of the last message */
	uint64_t fetch_ns, fetch_count;
	/* wall and CPU time of those fetches that were measured */
	uint64_t timed_ns, timed_cpu_ns;
	uint32_t load_depth;	/* the thread's load_depth when the wait began: a load within it
				 * has a larger one */
	bool is_iter;		/* the wait is an iter() */
};

/* The batch in whose step a thread is; stream 0: it is in none. */
struct thread_batch {
	uint64_t stream;
	uint32_t generation, task;
	bool is_over; /* the epoch has ended, so this time is in no batch's step */
};

/* The parts of the step that the thread is in; batch/training.c. */
struct thread_training {
	/* begin of the time without a part; 0: the thread waits, or has no step */
	uint64_t since_ns;
	uint64_t rest_ns;  /* earlier time without a part, for the next part */
	struct thread_batch batch;
	struct thread_batch outer; /* batch of the loop around this iterator's loop */
	enum dlprof_part part;     /* current part; DLPROF_PART_MAX: none */
	uint32_t call_depth;       /* calls under way that are parts of the step */
	uint32_t optimizer_depth;
	bool has_run; /* a backward pass or an optimizer ran since the batch was delivered */
	bool is_seen; /* `told`, the next record, has data */
	struct dlprof_parts told;
};

#define THREAD_NAMED_MAX 16

/* A recently used tally of a decode library: images of several widths take turns. */
struct thread_decoder {
	struct dlprof_tally *tally;
	const char *library;
	const char *format;
	uint64_t class;
	/* Tally and library for the Python call around the decoder; NULL: not known yet. */
	struct dlprof_tally *around;
	const char *around_library;
};

/*
 * The state of a thread. Each sample drives this memory out of the caches. So members that are used
 * together lie together, and those for each operation come first.
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
	bool boundary_inflates;		/* the outermost such call unpacks data, not images */
	uint32_t import_depth;		/* imports under way: interpreter/importing.h */
	bool busy; /* a record is being written; a signal handler's record is lost */

	alignas(64) struct thread_visit visit;
	/* newest decoder within a Python call that decodes, or NULL */
	struct thread_decoder *decoded;

	alignas(64) struct thread_frame frames[1 + THREAD_FRAME_MAX]; /* [0] is never popped */

	/* the handles of `images` */
	alignas(64) const void *image_handles[THREAD_IMAGE_MAX];
	uint32_t image_next;		/* image to replace if none is free */
	/* The batch that this thread is loading, set by the loader's wrappers. */
	int32_t worker;
	uint32_t generation;
	uint32_t task;
	uint64_t stream;		/* 0: no batch */
	uint64_t boundary_count; /* number of decodes when that outermost Python call began */
	uint64_t sample_floor_ns;	/* faster samples are not listed */

	uint32_t tid;
	struct dlprof_event *ring;	/* ring of the next record: the slot's `near` or `far` */
	uint64_t ring_capacity;

	uint8_t named[THREAD_NAMED_MAX]; /* indices of the named tallies found last */
	struct thread_step steps[THREAD_STEP_MAX];
	struct thread_top files, folders, kernels;

	uint32_t fetch_count;		/* number of loads that made.c has looked at */

	/* Slow operations that may still be recorded singly; see span.c. */
	uint64_t slow_credit_ns;
	uint8_t slow_credits[DLPROF_CLASS_MAX];

	struct thread_image images[THREAD_IMAGE_MAX];
	struct thread_decoder decoders[THREAD_DECODER_MAX];
	struct thread_peer peers[THREAD_PEER_MAX]; /* waits.c: table by descriptor */

	/* Kernel launches that were counted but not sent yet; launches.h. */
	uint32_t launch_count;
	uint32_t launch_step;	/* launches_steps at these launches */
	uint64_t launch_begin_ns, launch_end_ns;

	struct thread_range ranges[THREAD_RANGE_MAX];	/* the outermost open ranges */
	uint32_t range_depth;		/* number of all open ranges */
	uint64_t range_last_ns;		/* begin of the newest open range */

	/* Waits of the thread for batches: */
	uint32_t wait_depth;
	uint32_t wait_count;		/* waits that have ended */
	bool receiving;			/* the next read from a pipe begins a message */
	uint64_t receive_begin_ns;
	uint64_t waited_ns;
	struct thread_parts parts;	/* parts of the innermost wait */
	/* since when the thread has only freed memory (freeing.h); 0: it does something else */
	uint64_t free_since_ns;
	uint64_t free_ns; /* time spent freeing since the newest batch was delivered */
	bool pins;			/* the thread receives batches for another one; pinning.h */
	struct account *account; /* summary.h; NULL: none yet */
	struct thread_training training;
	/* iter() of an epoch that is not recorded yet, and its part in which samples were chosen */
	uint64_t iter_begin_ns, iter_ns, iter_sample_ns;
	/* Waits that raised since the last batch: they are added to the next batch or epoch. */
	uint64_t failed_begin_ns, failed_ns;

	/* TensorFlow's iterators; python/loaders/tfdata.c */
	struct {
		struct tfdata_making *making;
		const void *asked[2];	  /* iterators that were asked, innermost first */
		uint64_t end_ns, took_ns; /* end and length of the last call */
	} tfdata;
	struct { /* batches that one thread takes from a loader for another; batch/ahead.c */
		uint32_t asker, train_count, held_count; /* asker: its number, or 0 */
		bool asks_itself; /* the thread asks a loader for itself */
		/* takes batches of askers; takes_within: in a library known to hand them on */
		bool takes, takes_within;
		/* looked for an item of looked_key in vain; looked_apart: with pauses between */
		bool looked, looked_apart;
		const void *looked_key;
		uint64_t looked_begin_ns, looked_until_ns;
		/* CPU time of this and the main thread between this one's `count` waits: */
		uint32_t count;
		uint64_t main_ns, own_ns, exit_ns; /* main_ns: the main one's at the first wait */
		/* length of the thread's waits, and the main thread's CPU time in them */
		uint64_t waited_ns, within_ns;
		uint64_t since_ns; /* end of the first wait, where counting begins */
	} ahead;
};

/* Number of this process's life: 1 when it begins to record, and 1 more in each forked child. */
extern HIDDEN uint32_t thread_life;

/* Begins a life: the process begins to record, or a forked child begins again. */
void thread_begin_life(void);

extern HIDDEN __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

/*
 * Returns true if this still is the process and life in which `life` was read. Returns false in a
 * child that was forked meanwhile, even if it records by now: its parent's `struct thread` must not
 * be touched.
 */
bool thread_is_in_life(uint32_t life);

/*
 * Takes a lock among threads that may have no GIL; do not wait while holding it. The lock holds the
 * taker's life, so after a fork the parent's lock does not count as taken.
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

/* Claims a slot for this thread: the slow path of thread_get(). */
struct thread *thread_claim(void);

/* Makes `thread` the private state for `slot`, which thread `tid` has claimed. */
void thread_reset(struct thread *thread, struct dlprof_slot *slot, uint32_t tid);

/*
 * Returns this thread's state if it is loading a batch, else NULL. Used for calls that all threads
 * make all the time (locks, polls, stat), and that matter only within a load.
 */
static inline struct thread *thread_loading(void)
{
	struct thread *thread = thread_self;

	if (likely(!thread || thread->life != thread_life || !thread->load_depth))
		return NULL;
	return thread;
}

/* Returns this thread's state if it waits for a batch, in no load within that wait; else NULL. */
static inline struct thread *thread_waiting(void)
{
	struct thread *thread = thread_self;

	if (!thread || thread->life != thread_life || !thread->wait_depth ||
	    thread->load_depth != thread->parts.load_depth)
		return NULL;
	return thread;
}

/* Returns this thread's state; NULL if the process does not record, or no slot is free. */
static inline struct thread *thread_get(void)
{
	struct thread *thread = thread_self;

	if (likely(thread && thread->life == thread_life))
		return thread;
	return thread_claim();
}

/* Returns true if `count` more records fit; also on a full disk, where they are counted as lost. */
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
