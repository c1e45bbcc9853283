/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - what the shim tells the drain: one fixed-width record per fact.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC. A record is written once, whole, by the thread it
 * belongs to; anything that later records would have to amend is left to the drain.
 */
#pragma once

#include <assert.h>
#include <stdint.h>

enum dlprof_event_kind {
	DLPROF_EVENT_NONE,
	DLPROF_EVENT_EPOCH,   /* a loader's iterator was made or reset; consumer */
	DLPROF_EVENT_BATCH,   /* __next__ handed out a batch; consumer */
	DLPROF_EVENT_STOP,    /* __next__ handed out nothing: end of epoch or an error; consumer */
	DLPROF_EVENT_WORKER,  /* a worker process entered its loop; worker */
	DLPROF_EVENT_LOAD,    /* one batch was fetched and collated; worker, or consumer if W = 0 */
	DLPROF_EVENT_OP,      /* one slow (or, at detail `all`, any) operation */
	DLPROF_EVENT_MARK,    /* the program says something */
	DLPROF_EVENT_GPU_OPS, /* what a GPU, or a thread that waits for it, did; several in one */
	DLPROF_EVENT_GPU_COPIES, /* copies and memsets, with their sizes; several in one */
	DLPROF_EVENT_GPU_STATE,  /* how far the two above are complete */
	DLPROF_EVENT_PLACE,      /* where the program makes the loader of number `task`: `mark` */
	DLPROF_EVENT_KERNEL,     /* a part of a kernel's name */
	DLPROF_EVENT_MADE,       /* what some loads made: follows their LOAD */
	DLPROF_EVENT_STAGE,      /* a stage of a loader's pipeline, before its first sums */
	DLPROF_EVENT_STAGE_SUM,  /* what a stage did in a window of time */
	DLPROF_EVENT_PARTS,      /* parts of the step of a batch that was handed out; consumer */
	DLPROF_EVENT_KIND_MAX
};

/* How the wall time of an operation is classed. Own time: a nanosecond has one class. */
enum dlprof_class {
	DLPROF_CLASS_OPEN, /* open and close of data files, and what asks about them: stat, readdir
			    */
	DLPROF_CLASS_READ, /* bytes of data files coming in */
	DLPROF_CLASS_DECODE,
	DLPROF_CLASS_COLLATE,
	DLPROF_CLASS_STEP, /* user code that is named: a dataset's __getitem__, a transform */
	DLPROF_CLASS_WAIT, /* asleep for something other than data: locks, queues, sleep() */
	DLPROF_CLASS_MAX
};

enum dlprof_epoch_flag {
	DLPROF_EPOCH_IN_ORDER = 1 << 0,
	DLPROF_EPOCH_PERSISTENT = 1 << 1,
	DLPROF_EPOCH_OPAQUE = 1 << 4,	/* order, persistence and set-up are not known */
};

enum dlprof_event_flag {
	DLPROF_FLAG_FAILED = 1 << 0,	/* the call, load or __next__ ended in an error */
	DLPROF_FLAG_COLLATE_SEEN = 1 << 1,	/* of a load: collate_ns was observed */
	DLPROF_FLAG_STEP = 1 << 2,	/* of a BATCH: a whole step, nobody saw the wait in it */
	DLPROF_FLAG_RANGE = 1 << 3,	/* of a MARK: it has a length */
	/* Of an EPOCH, BATCH or STOP: */
	DLPROF_FLAG_NESTED = 1 << 4,	/* within another wait of its thread, or within a load */
	DLPROF_FLAG_POOL = 1 << 5,	/* any thread of a pool asks, in the name of the main one */
	DLPROF_FLAG_DROPPED = 1 << 6,	/* of a STOP: the program let go of the iterator */
	DLPROF_FLAG_OUTSIDE = 1 << 7,	/* of PARTS: after the end of the epoch, of no batch */
};

/*
 * begin_ns, duration_ns: entry and length of iter(). `loader` counts the loader
 * objects of one process from 1 (0: the loop that dlprof.h marks; DLPROF_LOADER_RANGES: the one
 * that NVTX tells of), `epoch` the iterations of that object from 0. Sent again with the same
 * numbers, it corrects `workers`.
 */
#define DLPROF_LOADER_RANGES UINT32_MAX

struct dlprof_epoch {
	uint32_t loader;
	uint32_t epoch;
	int32_t workers;
	int32_t prefetch_factor;	/* -1: not known */
	int64_t batch_size;		/* -1: the loader does its own batching */
	uint32_t flags;			/* enum dlprof_epoch_flag */
	uint32_t unused;
	uint64_t waited_ns;		/* as of a batch, as the next */
	uint64_t free_ns;
	char kind[40];			/* "torch.DataLoader" */
};

/*
 * A wait starves the training if it is at least so long, and at least this share of a usual step:
 * handing over what is ready takes up to a millisecond, and nobody gains by a tenth of a step.
 */
#define DLPROF_STARVED_LEAST_NS      2000000
#define DLPROF_STARVED_LEAST_PERCENT 10

/* begin_ns, duration_ns: entry of __next__ and the wait until it returned. */
struct dlprof_batch {
	uint64_t ordinal;	/* 0, 1, 2, ... as delivered in this epoch */
	uint64_t ask_ns;	/* when the consumer began to look for the message it came in */
	uint64_t arrive_ns;	/* when the message was taken in; 0: not seen */
	uint64_t receive_ns;	/* part of the wait spent taking in messages, not blocked; or
				 * UINT64_MAX: not observed */
	uint64_t waited_ns;	/* what this thread had waited in all, for any loader, at entry */
	/* UINT64_MAX, UINT32_MAX: not observed. */
	uint64_t sample_ns;	/* of the wait: this thread chose samples; of a loader with workers,
				 * those of a later batch */
	/*
	 * Descriptors of this batch's tensors that were asked of the worker, where its message was
	 * taken in: in its wait or an earlier one. Where another thread pins memory: of the tensors
	 * that it received since the batch before. CPU time: of the first two and every eighth, in
	 * proportion.
	 */
	uint64_t fetch_ns;
	uint64_t fetch_cpu_ns;
	uint32_t fetch_count;
	int32_t arrived;	/* 1: arrive_ns is of this batch; 0: no arrival was observed */
	/*
	 * After this thread's batch before, of any loader, was handed out: how long it took to free
	 * the shared memory of an older one. Waited, too, and no part of any event's duration.
	 */
	uint64_t free_ns;
};

/* begin_ns, duration_ns: the fetch. Own times; what is left of the duration is `other`. */
struct dlprof_load {
	uint64_t collate_ns;
	uint64_t cpu_ns;	/* of this thread */
	uint64_t open_ns;
	uint64_t read_ns;
	uint64_t read_bytes;
	uint64_t decode_ns;
	uint64_t decode_bytes;
	uint64_t blocked_ns;	/* part of `other`: DLPROF_CLASS_WAIT */
	uint32_t open_count;
	uint32_t read_count;
	uint32_t decode_count;	/* UINT32_MAX: decoding is not observed */
	uint32_t samples;	/* 0: not known */
	uint32_t storage_blocks; /* ru_inblock: 512 bytes each that a device delivered for us */
	uint32_t unused;
};

/* Parts of a step that are told apart; what is left of the step came after all of them. */
enum dlprof_part {
	DLPROF_PART_BEFORE,   /* up to a backward pass: copies to the GPU, forward, loss */
	DLPROF_PART_BACKWARD,
	DLPROF_PART_BETWEEN,  /* then up to the optimizer: clipping gradients, scaling */
	DLPROF_PART_OPTIMIZER,
	DLPROF_PART_SAVE,     /* a checkpoint */
	DLPROF_PART_MAX
};

/*
 * begin_ns: when the thread began to wait again. Own times, without waits; a step with several
 * waits in it has several of these records, which add up.
 */
struct dlprof_parts {
	uint64_t ns[DLPROF_PART_MAX]; /* UINT64_MAX: not observed */
	uint64_t backward_ns; /* when the first backward pass began; 0: there was none */
	uint64_t last_ns;     /* when the last backward pass or optimizer ended; 0: as before */
	uint64_t save_begin_ns, save_end_ns; /* of the last checkpoint; 0: there was none */
};

/* begin_ns: when it was looked at. UINT64_MAX: there was more than is counted, or is understood. */
struct dlprof_made {
	uint64_t tensor_count;
	uint64_t bytes; /* of its tensors, arrays and strings */
};

enum dlprof_stage_flag {
	DLPROF_STAGE_KERNEL = 1 << 0,	 /* an operation within the stages, called for an element */
	DLPROF_STAGE_ROOT = 1 << 1,	 /* the training asks this one */
	DLPROF_STAGE_AUTOTUNED = 1 << 2, /* the framework changes `parallel` and `capacity` */
};

/* `task` is the number of the stage within its process, from 1. -1: not known. */
struct dlprof_stage {
	uint32_t parent;	/* the stage that takes its elements; 0: not known */
	uint32_t flags;		/* enum dlprof_stage_flag */
	int32_t parallel;	/* how many calls at once are asked for */
	int32_t capacity;	/* elements that its queue may hold; inputs that it has open */
	int32_t threads;	/* of the pool that the pipeline runs in; of a root */
	char name[64];
};

/*
 * Sums over the calls that ended in the window [begin_ns, begin_ns + duration_ns) of the stage
 * `task`. stream, generation: of the loader's epoch whose batches were asked for; 0: of several.
 */
struct dlprof_stage_sum {
	uint64_t elements;
	uint64_t busy_ns;	/* in calls of it, over all threads */
	uint64_t own_ns;	/* ... without the stages and kernels that it called itself */
	uint64_t timed_ns;	/* the part of own_ns whose CPU time was measured */
	uint64_t cpu_ns;	/* ... which is this */
	uint64_t read_ns;	/* of own_ns: opening and reading files */
	uint64_t ready;		/* of a queue: elements in it, summed over when it was asked */
};

/* begin_ns, duration_ns: the call, from outside. */
struct dlprof_op {
	uint64_t bytes;
	uint32_t unused;
	uint32_t class;		/* enum dlprof_class */
	char name[16];		/* the function */
	char path[56];		/* end of the file's path, or empty */
};

/* begin_ns: when; of a range with its length. The text is cut to fit. */
#define DLPROF_MARK_BYTES 88

enum dlprof_gpu_kind {
	DLPROF_GPU_NONE,
	DLPROF_GPU_KERNEL,
	DLPROF_GPU_NCCL,  /* a kernel of a collective: busy, not compute */
	DLPROF_GPU_GRAPH, /* a whole graph: an upper bound of what its kernels take */
	DLPROF_GPU_MEMSET,
	DLPROF_GPU_H2D,
	DLPROF_GPU_D2H,
	DLPROF_GPU_COPY,       /* within and between devices */
	DLPROF_GPU_SYNC_EVENT, /* the host was blocked until an event, ... */
	DLPROF_GPU_SYNC_STREAM,
	DLPROF_GPU_SYNC_CONTEXT,
	DLPROF_GPU_LAUNCH,   /* as the host sees them, without CUPTI: `id` is how many */
	DLPROF_GPU_API_SYNC, /* a thread was in a call that waits; `id` is the thread */
	DLPROF_GPU_API_COPY, /* ... in one that copies, and may wait for it */
	DLPROF_GPU_API_LAUNCH,
	DLPROF_GPU_LOADER, /* a kernel of a GPU loader: neither busy nor compute */
	DLPROF_GPU_KIND_MAX
};

static_assert(DLPROF_GPU_KIND_MAX <= 16, "it has 4 bits");

/*
 * What an operation was, in 32 bits: kind, stream (its low bits) and id: the thread that launched
 * the kernel (0: not known), or whose call it was, or the graph's number. Of copies id is
 * DLPROF_GPU_PAGEABLE, DLPROF_GPU_PEER, DLPROF_GPU_ANYWHERE or 0.
 */
#define DLPROF_GPU_ID_BITS     22
#define DLPROF_GPU_STREAM_BITS 6
#define DLPROF_GPU_WHAT(kind, stream, id)                                                          \
	((uint32_t)(kind) << 28 |                                                                  \
	 ((uint32_t)(stream) & ((1u << DLPROF_GPU_STREAM_BITS) - 1)) << DLPROF_GPU_ID_BITS |       \
	 ((uint32_t)(id) & ((1u << DLPROF_GPU_ID_BITS) - 1)))
#define DLPROF_GPU_WHAT_KIND(what)   ((what) >> 28)
#define DLPROF_GPU_WHAT_STREAM(what)                                                               \
	((what) >> DLPROF_GPU_ID_BITS & ((1u << DLPROF_GPU_STREAM_BITS) - 1))
#define DLPROF_GPU_WHAT_ID(what)     ((what) & ((1u << DLPROF_GPU_ID_BITS) - 1))
#define DLPROF_GPU_PAGEABLE	     1u
#define DLPROF_GPU_PEER		     2u /* from another device */
#define DLPROF_GPU_ANYWHERE	     4u /* the host did not say from and to where */

/*
 * `worker` is the device (-1: none in particular); begin_ns + offset_ns is when the operation
 * began. Operations come in any order and up to seconds late. An only one has its length in
 * duration_ns.
 */
struct dlprof_gpu_op {
	uint32_t offset_ns;
	uint32_t length_ns;
	uint32_t what;
};

struct dlprof_gpu_copy {
	struct dlprof_gpu_op op;
	uint32_t bytes_low;
	uint32_t bytes_high;
};

#define DLPROF_GPU_OP_COUNT   7
#define DLPROF_GPU_COPY_COUNT 4

struct dlprof_gpu_ops {
	uint32_t count;
	struct dlprof_gpu_op ops[DLPROF_GPU_OP_COUNT];
};

struct dlprof_gpu_copies {
	uint32_t count;
	struct dlprof_gpu_copy copies[DLPROF_GPU_COPY_COUNT];
};

/*
 * Names of kernels are long: each comes once, in parts, in order. `stream` is the kernel's id, the
 * class of its tally; `task` counts the parts; one that does not fill `mark` is the last.
 */
#define DLPROF_KERNEL_BYTES (128 * DLPROF_MARK_BYTES) /* longer names are cut */

enum dlprof_gpu_state_kind {
	DLPROF_GPU_ATTACHED,	/* from begin_ns on all that the GPU does is recorded */
	DLPROF_GPU_HOST,	/* ... only what the host sees: calls of libcudart */
	DLPROF_GPU_COMPLETE,	/* whatever began before begin_ns has been sent */
	DLPROF_GPU_GAP_BEGIN,	/* nothing is known of the GPU from begin_ns on, and `why` */
	DLPROF_GPU_GAP_END,
};

enum dlprof_gpu_flag {
	DLPROF_GPU_WHOLE_GRAPHS = 1 << 0, /* a graph is one operation, not its kernels */
	DLPROF_GPU_WITH_KERNELS = 1 << 1, /* not copies alone */
	DLPROF_GPU_WITH_CALLS = 1 << 2, /* the host's, with their threads */
};

/* Sums since the process began. */
struct dlprof_gpu_state {
	uint32_t state;		/* enum dlprof_gpu_state_kind */
	uint32_t flags;		/* enum dlprof_gpu_flag */
	uint64_t record_count;
	uint64_t bad_count;	/* records whose times cannot be: left out */
	uint64_t dropped_count;	/* by CUPTI */
	uint64_t own_drop_count; /* by us: no buffer, or the drain was too far behind */
	uint64_t overhead_ns;	/* what CUPTI says it took itself */
	char why[40];
};

struct dlprof_event {
	uint16_t kind;		/* enum dlprof_event_kind */
	uint16_t flags;		/* enum dlprof_event_flag */
	int32_t worker;		/* worker id, -1: none */
	uint64_t begin_ns;
	uint64_t duration_ns;
	/*
	 * The loader's iterator: inode of the pipe that carries results from workers to the
	 * consumer, the same number at both ends under fork, spawn and forkserver. Without
	 * workers: DLPROF_STREAM_LOCAL | DLPROF_STREAM_OF the consumer's life, counted on. Marked
	 * by dlprof.h: DLPROF_STREAM_MARKS | DLPROF_STREAM_OF the consumer's life.
	 */
	uint64_t stream;
	uint32_t generation;	/* of the stream: persistent workers restart task numbers at 0 */
	uint32_t task;		/* number under which the batch was asked for */
	union {
		struct dlprof_epoch epoch;
		struct dlprof_batch batch;
		struct dlprof_load load;
		struct dlprof_made made;
		struct dlprof_stage stage;
		struct dlprof_stage_sum stage_sum;
		struct dlprof_parts parts;
		struct dlprof_op op;
		char mark[DLPROF_MARK_BYTES];
		struct dlprof_gpu_ops gpu_ops;
		struct dlprof_gpu_copies gpu_copies;
		struct dlprof_gpu_state gpu_state;
		uint64_t words[11];
	};
};

#define DLPROF_STREAM_LOCAL (UINT64_C(1) << 63)
#define DLPROF_STREAM_MARKS (UINT64_C(1) << 62)

/*
 * A number of 62 bits for the life of a process: its pid, which has 22 bits at most, and when it
 * began, in units of 16 us. A life lasts longer than that, and 208 days pass until its number could
 * come again.
 */
#define DLPROF_STREAM_TIME_BITS 40
#define DLPROF_STREAM_OF(pid, created_ns)                                                          \
	((uint64_t)(pid) << DLPROF_STREAM_TIME_BITS |                                              \
	 ((created_ns) >> 14 & ((UINT64_C(1) << DLPROF_STREAM_TIME_BITS) - 1)))

static_assert(sizeof(struct dlprof_event) == 128, "the record is the ABI of shim and drain");
