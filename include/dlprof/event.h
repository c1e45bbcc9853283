/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - the records that the shim sends to the drain. A record has 128 bytes and one fact.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC. A thread writes its record once, whole.
 */
#pragma once

#include <assert.h>
#include <stdint.h>

enum dlprof_event_kind {
	DLPROF_EVENT_NONE,
	DLPROF_EVENT_EPOCH,   /* the consumer made or reset a loader's iterator */
	DLPROF_EVENT_BATCH,
	DLPROF_EVENT_STOP,    /* __next__ returned no batch: epoch's end or error */
	DLPROF_EVENT_WORKER,  /* a worker process entered its loop */
	DLPROF_EVENT_LOAD,    /* a load, by a worker or, without workers, by the consumer */
	DLPROF_EVENT_OP,      /* a slow operation; at detail `all`, any operation */
	DLPROF_EVENT_MARK,
	DLPROF_EVENT_GPU_OPS, /* GPU operations, and calls that wait for the GPU */
	DLPROF_EVENT_GPU_COPIES, /* copies and memsets, with their sizes */
	DLPROF_EVENT_GPU_STATE,  /* up to when GPU_OPS and GPU_COPIES are complete */
	DLPROF_EVENT_PLACE,      /* where the program makes loader number `task`; text in `mark` */
	DLPROF_EVENT_KERNEL,     /* a part of a kernel's name */
	DLPROF_EVENT_MADE,       /* size of the thread's last LOAD; sent for some loads */
	DLPROF_EVENT_STAGE,
	DLPROF_EVENT_STAGE_SUM,
	DLPROF_EVENT_PARTS,      /* parts of a delivered batch's step; sent by the consumer */
	DLPROF_EVENT_KIND_MAX
};

/* Time in nested calls does not count for the outer call, so each nanosecond has one class. */
enum dlprof_class {
	DLPROF_CLASS_OPEN, /* open and close of data files; stat, readdir and the like */
	DLPROF_CLASS_READ, /* reads of data files */
	DLPROF_CLASS_DECODE,
	DLPROF_CLASS_COLLATE,
	DLPROF_CLASS_STEP, /* a dataset's __getitem__, a transform */
	DLPROF_CLASS_WAIT, /* blocked by something other than data: locks, queues, sleep() */
	DLPROF_CLASS_MAX
};

enum dlprof_epoch_flag {
	DLPROF_EPOCH_IN_ORDER = 1 << 0,
	DLPROF_EPOCH_PERSISTENT = 1 << 1,
	DLPROF_EPOCH_LACKS_ORDER = 1 << 2, /* the loader has no setting in_order */
	DLPROF_EPOCH_OPAQUE = 1 << 4, /* the loader's order, persistence and set-up are unknown */
};

enum dlprof_event_flag {
	DLPROF_FLAG_FAILED = 1 << 0,
	DLPROF_FLAG_COLLATE_SEEN = 1 << 1,	/* LOAD: collate_ns was observed */
	DLPROF_FLAG_STEP = 1 << 2,    /* BATCH: a whole step, without its waits */
	DLPROF_FLAG_RANGE = 1 << 3,	/* MARK: has a length */
	/* The next flag is set in records EPOCH, BATCH or STOP: */
	DLPROF_FLAG_NESTED = 1 << 4, /* the call is inside another wait, or a load, of its thread */
	DLPROF_FLAG_POOL = 1 << 5,  /* any thread of a pool may call the loader */
	DLPROF_FLAG_DROPPED = 1 << 6,	/* STOP: the program dropped the iterator */
	DLPROF_FLAG_OUTSIDE = 1 << 7,	/* PARTS: time after an epoch's end, in no batch */
};

/*
 * EPOCH: begin_ns and duration_ns are those of iter(). `loader` is the number of the loader, from
 * 1; 0 stands for marks of dlprof.h. `epoch` is a number from 0. If two EPOCH records have the same
 * numbers, the second has the right `workers`.
 */
#define DLPROF_LOADER_RANGES UINT32_MAX
#define DLPROF_EPOCH_SAMPLE_US (UINT32_MAX - 1) /* the largest sample_us: 71 minutes */

struct dlprof_epoch {
	uint32_t loader;
	uint32_t epoch;
	int32_t workers;
	int32_t prefetch_factor;	/* -1: unknown */
	int32_t batch_size;		/* -1: unknown, or the loader makes its own batches */
	uint32_t sample_us;		/* time within iter() for choosing samples, at most
					 * DLPROF_EPOCH_SAMPLE_US; UINT32_MAX: not observed */
	uint32_t flags;
	uint32_t unused;
	uint64_t waited_ns;
	uint64_t free_ns;
	char kind[40];			/* type of the loader, as "torch.DataLoader" */
};

/* A batch is starved if its wait is at least these nanoseconds, and this percent of a step. */
#define DLPROF_STARVED_LEAST_NS      2000000
#define DLPROF_STARVED_LEAST_PERCENT 10

/* BATCH: begin_ns is the entry into __next__, duration_ns the wait in it. */
struct dlprof_batch {
	uint64_t ordinal;	/* number in the order of delivery, from 0, in this epoch */
	uint64_t ask_ns;	/* when the consumer began to look for the batch's message */
	uint64_t arrive_ns;	/* when the message came; 0: not observed */
	uint64_t receive_ns;	/* time of receiving without blocking; UINT64_MAX: not observed */
	uint64_t waited_ns;	/* sum of this thread's earlier waits, for all loaders */
	/* In the members below, UINT64_MAX or UINT32_MAX means: not observed. */
	uint64_t sample_ns;	/* time of choosing samples; with workers, for a later batch */
	/*
	 * Time of fetching the file descriptors of the batch's tensors, in this wait or earlier.
	 * fetch_cpu_ns is extrapolated from the CPU time of some fetches. If a pinning thread
	 * fetches for the consumer, its fetches since the last batch count.
	 */
	uint64_t fetch_ns;
	uint64_t fetch_cpu_ns;
	uint32_t fetch_count;
	int32_t arrived;
	/* Time of freeing an older batch. It counts as waiting, but is in no event's duration. */
	uint64_t free_ns;
};

/* LOAD: begin_ns and duration_ns are those of the load. The other times exclude nested calls. */
struct dlprof_load {
	uint64_t collate_ns;
	uint64_t cpu_ns;	/* CPU time of the loading thread */
	uint64_t open_ns;
	uint64_t read_ns;
	uint64_t read_bytes;
	uint64_t decode_ns;
	uint64_t decode_bytes;
	uint64_t blocked_ns;	/* time in DLPROF_CLASS_WAIT */
	uint32_t open_count;
	uint32_t read_count;
	uint32_t decode_count;	/* UINT32_MAX: not observed */
	uint32_t samples;	/* 0: unknown */
	uint32_t storage_blocks; /* ru_inblock: number of blocks of 512 bytes read from a device */
	uint32_t unused;
};

/* Parts of a step. What comes after the last part is the step's rest. */
enum dlprof_part {
	DLPROF_PART_BEFORE,   /* until a backward pass: copies to the GPU, forward, loss */
	DLPROF_PART_BACKWARD,
	DLPROF_PART_BETWEEN,  /* after BACKWARD, until the optimizer: clipping, scaling */
	DLPROF_PART_OPTIMIZER,
	DLPROF_PART_SAVE,
	DLPROF_PART_MAX
};

/* PARTS: begin_ns is when the next wait began. If a step has several waits, sum up its records. */
struct dlprof_parts {
	uint64_t ns[DLPROF_PART_MAX]; /* UINT64_MAX: not observed */
	uint64_t backward_ns; /* when the first backward pass began; 0: none */
	uint64_t last_ns;     /* when the last backward pass or optimizer ended; 0: none */
	uint64_t save_begin_ns, save_end_ns; /* start and end of the last checkpoint; 0: none */
};

/* MADE: begin_ns is when the batch was measured. A size of UINT64_MAX: too large to be counted. */
struct dlprof_made {
	uint64_t tensor_count;
	uint64_t objects; /* number of Python objects, also tensors and numbers; at most 16,385 */
	uint64_t bytes; /* bytes of tensors, arrays and strings */
};

enum dlprof_stage_flag {
	DLPROF_STAGE_KERNEL = 1 << 0,	 /* an operation that a stage calls for each element */
	DLPROF_STAGE_ROOT = 1 << 1,	 /* the training calls this stage */
	DLPROF_STAGE_AUTOTUNED = 1 << 2, /* the framework adapts `parallel` and `capacity` */
};

/* STAGE: `task` is the stage's number in this process, from 1. In its members, -1: unknown. */
struct dlprof_stage {
	uint32_t parent; /* the stage that takes the elements; 0: unknown */
	uint32_t flags;		/* bits of enum dlprof_stage_flag */
	int32_t parallel;	/* number of calls that may run at once */
	int32_t capacity; /* elements in the queue, or open inputs */
	int32_t threads;	/* in the last stage (`parent` 0): threads of the pipeline's pool */
	char name[64];
};

/*
 * STAGE_SUM: sums over the calls of stage number `task` that ended within the record's time. If
 * stream is 0, the calls were for several epochs.
 */
struct dlprof_stage_sum {
	uint64_t elements;
	uint64_t busy_ns;	/* time in the stage's calls, over all threads; partly estimated */
	uint64_t own_ns;	/* part of busy_ns outside inner stages and kernels */
	uint64_t cpu_ns;	/* CPU time in own_ns, estimated; UINT64_MAX: unknown */
	uint64_t read_ns;	/* part of own_ns for opening and reading files */
	uint64_t ready; /* elements that a queue had ready at each request, summed over requests */
};

/* OP: begin_ns and duration_ns are those of the call, including calls that are nested in it. */
struct dlprof_op {
	uint64_t bytes;
	uint32_t unused;
	uint32_t class;		/* enum dlprof_class */
	char name[16];
	char path[56];		/* end of the opened file's path; "": no file */
};

/* MARK: a text, cut to this length, and a time; a range has a duration_ns, too. */
#define DLPROF_MARK_BYTES 88

enum dlprof_gpu_kind {
	DLPROF_GPU_NONE,
	DLPROF_GPU_KERNEL,
	DLPROF_GPU_NCCL,  /* kernel of a collective: counts as busy, not as compute */
	DLPROF_GPU_GRAPH, /* a whole CUDA graph: its kernels ran for at most this long */
	DLPROF_GPU_MEMSET,
	DLPROF_GPU_H2D,
	DLPROF_GPU_D2H,
	DLPROF_GPU_COPY,       /* copy within a device or between devices */
	DLPROF_GPU_SYNC_EVENT, /* the host waited for an event; in the next two: stream, context */
	DLPROF_GPU_SYNC_STREAM,
	DLPROF_GPU_SYNC_CONTEXT,
	DLPROF_GPU_LAUNCH,   /* without CUPTI: `id` launches by the host, and no device is named;
			      * recorded by CUPTI: one launch, as long as its kernels ran */
	DLPROF_GPU_API_SYNC, /* a thread was in a call that waits for the GPU; `id`: the thread */
	DLPROF_GPU_API_COPY, /* a thread was in a copying call, which may wait; `id`: the thread */
	DLPROF_GPU_API_LAUNCH,
	DLPROF_GPU_LOADER, /* a GPU loader's kernel: counts as neither busy nor compute */
	DLPROF_GPU_KIND_MAX
};

static_assert(DLPROF_GPU_KIND_MAX <= 16, "it has 4 bits");

/* `id`: thread of a kernel or call (0: unknown), number of a graph, bits of a copy (see below). */
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
#define DLPROF_GPU_PEER		     2u /* the copy is from another device */
#define DLPROF_GPU_ANYWHERE	     4u /* source and target are unknown */

/*
 * An operation. It began at the record's begin_ns + offset_ns, on the device in the record's
 * `worker` (-1: none in particular). If a record has one operation, duration_ns is its length.
 * Records come in any order, up to seconds late.
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
 * KERNEL: part number `task` of a long name. Parts come once, in order. All but the last are full.
 */
#define DLPROF_KERNEL_BYTES (128 * DLPROF_MARK_BYTES) /* longer names are cut */

enum dlprof_gpu_state_kind {
	DLPROF_GPU_ATTACHED,	/* from begin_ns on, all operations are recorded */
	DLPROF_GPU_HOST,  /* from begin_ns on, only calls of libcudart are recorded */
	DLPROF_GPU_COMPLETE,	/* operations that began before begin_ns have been sent */
	DLPROF_GPU_GAP_BEGIN,	/* from begin_ns on, operations are missing (`why`) */
	DLPROF_GPU_GAP_END,
};

enum dlprof_gpu_flag {
	DLPROF_GPU_WHOLE_GRAPHS = 1 << 0, /* a graph is one operation, without kernels */
	DLPROF_GPU_WITH_KERNELS = 1 << 1, /* kernels are recorded, not only copies */
	DLPROF_GPU_WITH_CALLS = 1 << 2,
};

/* GPU_STATE: counts are sums since the process began to record. */
struct dlprof_gpu_state {
	uint32_t state;
	uint32_t flags;
	union {
		uint64_t record_count;
		uint64_t memset_count; /* in state HOST: number of memsets the host asked for */
	};
	union {
		uint64_t bad_count; /* number of records with impossible times */
		uint64_t peer_bytes; /* in state HOST: bytes the host had copied between GPUs */
	};
	uint64_t dropped_count;
	uint64_t own_drop_count; /* records that the shim dropped: no buffer, or a full ring */
	uint64_t overhead_ns;	/* CUPTI's overhead, by its own report */
	char why[40];
};

struct dlprof_event {
	uint16_t kind;
	uint16_t flags;
	int32_t worker;		/* -1: none */
	uint64_t begin_ns;
	uint64_t duration_ns;
	/*
	 * Identifies the loader's iterator. With workers, it is the inode of their pipe to the
	 * consumer, which is the same at both ends. Without workers, it is DLPROF_STREAM_LOCAL |
	 * DLPROF_STREAM_OF(the consumer's life), plus a count. For dlprof.h, it is
	 * DLPROF_STREAM_MARKS | DLPROF_STREAM_OF(the consumer's life). For a multiprocessing pool,
	 * it is DLPROF_STREAM_POOL | the pipe's inode (for a thread pool: a number). A pool numbers
	 * its tasks through all epochs, so its loads have DLPROF_GENERATION_ANY, and each EPOCH has
	 * the number of its first task.
	 */
	uint64_t stream;
	uint32_t generation;	/* epoch of the stream: task numbers restart in each epoch */
	uint32_t task;
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
#define DLPROF_STREAM_POOL  (UINT64_C(1) << 61) /* never set together with LOCAL or MARKS */
#define DLPROF_GENERATION_ANY UINT32_MAX

/* 22 bits hold the pid, 40 when the life began, in units of 16.384 us: each life lasts longer. */
#define DLPROF_STREAM_TIME_BITS 40
#define DLPROF_STREAM_OF(pid, created_ns)                                                          \
	((uint64_t)(pid) << DLPROF_STREAM_TIME_BITS |                                              \
	 ((created_ns) >> 14 & ((UINT64_C(1) << DLPROF_STREAM_TIME_BITS) - 1)))

static_assert(sizeof(struct dlprof_event) == 128, "the record is the ABI of shim and drain");
