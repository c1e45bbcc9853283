/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - the records that the shim sends to the drain: one fixed-width record per fact.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC. A record is written once, whole, by the thread it
 * belongs to; the drain makes corrections that need later records.
 */
#pragma once

#include <assert.h>
#include <stdint.h>

enum dlprof_event_kind {
	DLPROF_EVENT_NONE,
	DLPROF_EVENT_EPOCH,   /* the consumer made or reset a loader's iterator */
	DLPROF_EVENT_BATCH,   /* __next__ returned a batch to the consumer */
	DLPROF_EVENT_STOP,    /* __next__ returned no batch to the consumer: epoch's end or error */
	DLPROF_EVENT_WORKER,  /* a worker process entered its loop; sent by the worker */
	DLPROF_EVENT_LOAD,    /* a batch was fetched and collated, by a worker or (W = 0) by the
			       * consumer */
	DLPROF_EVENT_OP,      /* an operation that was slow; at detail `all`, any operation */
	DLPROF_EVENT_MARK,    /* a line that the program wrote */
	DLPROF_EVENT_GPU_OPS, /* GPU operations, and calls of threads that wait for the GPU */
	DLPROF_EVENT_GPU_COPIES, /* copies and memsets, with their sizes */
	DLPROF_EVENT_GPU_STATE,  /* up to when GPU_OPS and GPU_COPIES are complete */
	DLPROF_EVENT_PLACE,      /* where the program makes loader number `task`; text in `mark` */
	DLPROF_EVENT_KERNEL,     /* a part of a kernel's name */
	DLPROF_EVENT_MADE,       /* size of the batch of the LOAD before; sent for some loads */
	DLPROF_EVENT_STAGE,      /* a stage of a loader's pipeline, before its first sums */
	DLPROF_EVENT_STAGE_SUM,  /* a stage's sums over a window of time */
	DLPROF_EVENT_PARTS,      /* parts of a delivered batch's step; sent by the consumer */
	DLPROF_EVENT_KIND_MAX
};

/* Classes of an operation's wall time. Nested calls are subtracted, so each ns has one class. */
enum dlprof_class {
	DLPROF_CLASS_OPEN, /* open and close of data files; stat, readdir and the like */
	DLPROF_CLASS_READ, /* reading bytes of data files */
	DLPROF_CLASS_DECODE,
	DLPROF_CLASS_COLLATE,
	DLPROF_CLASS_STEP, /* user code with a name: a dataset's __getitem__, a transform */
	DLPROF_CLASS_WAIT, /* blocked by something other than data: locks, queues, sleep() */
	DLPROF_CLASS_MAX
};

enum dlprof_epoch_flag {
	DLPROF_EPOCH_IN_ORDER = 1 << 0,
	DLPROF_EPOCH_PERSISTENT = 1 << 1,
	DLPROF_EPOCH_OPAQUE = 1 << 4, /* the loader's order, persistence and set-up are not known */
};

enum dlprof_event_flag {
	DLPROF_FLAG_FAILED = 1 << 0,	/* the call, load or __next__ failed */
	DLPROF_FLAG_COLLATE_SEEN = 1 << 1,	/* for a LOAD: collate_ns was observed */
	DLPROF_FLAG_STEP = 1 << 2,    /* for a BATCH: a whole step; its waits were not observed */
	DLPROF_FLAG_RANGE = 1 << 3,	/* for a MARK: it is a range, with a length */
	/* Flags of an EPOCH, BATCH or STOP: */
	DLPROF_FLAG_NESTED = 1 << 4,	/* within another wait of its thread, or within a load */
	DLPROF_FLAG_POOL = 1 << 5,  /* any thread of a pool may call the loader */
	DLPROF_FLAG_DROPPED = 1 << 6,	/* for a STOP: the program dropped the iterator */
	DLPROF_FLAG_OUTSIDE = 1 << 7,	/* for PARTS: time after an epoch's end, in no batch */
};

/*
 * Data of an EPOCH. begin_ns and duration_ns: entry and length of iter(). `loader` numbers the
 * process's loader objects from 1; 0 is the loop marked by dlprof.h, DLPROF_LOADER_RANGES the loop
 * with NVTX ranges. `epoch` counts the iterations over a loader from 0. A second record with the
 * same numbers corrects `workers`.
 */
#define DLPROF_LOADER_RANGES UINT32_MAX
#define DLPROF_EPOCH_SAMPLE_US (UINT32_MAX - 1) /* 71 minutes */

struct dlprof_epoch {
	uint32_t loader;
	uint32_t epoch;
	int32_t workers;
	int32_t prefetch_factor;	/* -1: not known */
	int32_t batch_size;		/* -1: not known, or the loader makes its own batches */
	uint32_t sample_us;		/* part of iter() in which samples were chosen, at most
					 * DLPROF_EPOCH_SAMPLE_US; UINT32_MAX: not observed */
	uint32_t flags;			/* bits of enum dlprof_epoch_flag */
	uint32_t unused;
	uint64_t waited_ns;		/* as in struct dlprof_batch */
	uint64_t free_ns;
	char kind[40];			/* type of the loader, such as "torch.DataLoader" */
};

/*
 * A wait starves the training if it lasts at least 2 ms and at least 10 % of a usual step: even a
 * ready batch takes up to a millisecond to receive, and saving less than a tenth of a step is not
 * worth it.
 */
#define DLPROF_STARVED_LEAST_NS      2000000
#define DLPROF_STARVED_LEAST_PERCENT 10

/* Data of a BATCH. begin_ns: entry into __next__; duration_ns: the wait until it returned. */
struct dlprof_batch {
	uint64_t ordinal;	/* 0, 1, 2, ... in the order of delivery in this epoch */
	uint64_t ask_ns;	/* when the consumer began to look for the batch's message */
	uint64_t arrive_ns;	/* when the consumer received the message; 0: not observed */
	uint64_t receive_ns;	/* part of the wait in which messages were received without
				 * blocking; UINT64_MAX: not observed */
	uint64_t waited_ns;	/* sum of this thread's earlier waits, for all loaders */
	/* In the members below, UINT64_MAX or UINT32_MAX means: not observed. */
	uint64_t sample_ns;	/* part of the wait in which samples were chosen; with workers, for
				 * a later batch */
	/*
	 * Time and number of fetches: one fetch for each tensor of the batch that the worker passed
	 * by a descriptor. They happen when the message is received: in this batch's wait or in an
	 * earlier one. If another thread pins memory, its fetches since the last batch count.
	 * fetch_cpu_ns is measured for the first two tensors and every eighth, and extrapolated.
	 */
	uint64_t fetch_ns;
	uint64_t fetch_cpu_ns;
	uint32_t fetch_count;
	int32_t arrived;	/* 1: arrive_ns was observed for this batch; 0: it was not */
	/*
	 * Time in which this thread freed the shared memory of an older batch, after it got its
	 * previous batch of any loader. The time counts as waiting, but is in no event's duration.
	 */
	uint64_t free_ns;
};

/*
 * Data of a LOAD. begin_ns, duration_ns: the fetch. The times below exclude nested calls; the rest
 * of the duration is called `other`.
 */
struct dlprof_load {
	uint64_t collate_ns;
	uint64_t cpu_ns;	/* CPU time of the loading thread */
	uint64_t open_ns;
	uint64_t read_ns;
	uint64_t read_bytes;
	uint64_t decode_ns;
	uint64_t decode_bytes;
	uint64_t blocked_ns;	/* part of `other` that has class DLPROF_CLASS_WAIT */
	uint32_t open_count;
	uint32_t read_count;
	uint32_t decode_count;	/* UINT32_MAX: decoding is not observed */
	uint32_t samples;	/* samples in the batch; 0: not known */
	uint32_t storage_blocks; /* ru_inblock: blocks of 512 bytes that a device delivered */
	uint32_t unused;
};

/* Parts of a step. The rest of the step comes after all of them. */
enum dlprof_part {
	DLPROF_PART_BEFORE,   /* until a backward pass begins: copies to the GPU, forward, loss */
	DLPROF_PART_BACKWARD,
	DLPROF_PART_BETWEEN,  /* from the end of BACKWARD until the optimizer: clipping, scaling */
	DLPROF_PART_OPTIMIZER,
	DLPROF_PART_SAVE,     /* writing a checkpoint */
	DLPROF_PART_MAX
};

/*
 * Data of a PARTS. begin_ns: when the thread began to wait again. The times exclude nested parts
 * and waits. A step with several waits in it has several of these records; their times add up.
 */
struct dlprof_parts {
	uint64_t ns[DLPROF_PART_MAX]; /* UINT64_MAX: not observed */
	uint64_t backward_ns; /* begin of the first backward pass; 0: there was none */
	uint64_t last_ns;     /* end of the last backward pass or optimizer; 0: there was none */
	uint64_t save_begin_ns, save_end_ns; /* begin and end of the last checkpoint; 0: none */
};

/* Data of a MADE. begin_ns: when the batch was measured. UINT64_MAX: too large to be counted. */
struct dlprof_made {
	uint64_t tensor_count;
	uint64_t bytes; /* bytes in the batch's tensors, arrays and strings */
};

enum dlprof_stage_flag {
	DLPROF_STAGE_KERNEL = 1 << 0,	 /* an operation that a stage calls for each element */
	DLPROF_STAGE_ROOT = 1 << 1,	 /* the stage that the training calls */
	DLPROF_STAGE_AUTOTUNED = 1 << 2, /* the framework adapts `parallel` and `capacity` */
};

/* Data of a STAGE. `task` numbers the stages of a process from 1. Members of -1 are not known. */
struct dlprof_stage {
	uint32_t parent; /* number of the stage that takes the elements; 0: not known */
	uint32_t flags;		/* bits of enum dlprof_stage_flag */
	int32_t parallel;	/* number of calls of the stage that may run at once */
	int32_t capacity; /* size of the stage's queue in elements, or of its set of open inputs */
	int32_t threads;	/* for a root: number of threads in the pipeline's pool */
	char name[64];
};

/*
 * Data of a STAGE_SUM: sums for stage `task` over the calls that ended in the window [begin_ns,
 * begin_ns + duration_ns). `stream` and `generation`: the loader's epoch that made the calls; 0:
 * several epochs made them.
 */
struct dlprof_stage_sum {
	uint64_t elements;
	uint64_t busy_ns;	/* time in the stage's calls, over all threads */
	uint64_t own_ns;	/* part of busy_ns outside of the stages and kernels it called */
	uint64_t timed_ns;	/* part of own_ns whose CPU time was measured */
	uint64_t cpu_ns;	/* CPU time in timed_ns */
	uint64_t read_ns;	/* part of own_ns for opening and reading files */
	uint64_t ready; /* for a queue: number of ready elements, summed over all requests */
};

/* Data of an OP. begin_ns and duration_ns: the whole call, with nested calls. */
struct dlprof_op {
	uint64_t bytes;
	uint32_t unused;
	uint32_t class;		/* enum dlprof_class */
	char name[16];		/* name of the function */
	char path[56];		/* end of the file's path; "": no file */
};

/* Data of a MARK: a text, cut to this length. begin_ns: its time; a range also has duration_ns. */
#define DLPROF_MARK_BYTES 88

enum dlprof_gpu_kind {
	DLPROF_GPU_NONE,
	DLPROF_GPU_KERNEL,
	DLPROF_GPU_NCCL,  /* kernel of a collective: counts as busy, not as compute */
	DLPROF_GPU_GRAPH, /* a whole graph: its kernels ran for at most its length */
	DLPROF_GPU_MEMSET,
	DLPROF_GPU_H2D,
	DLPROF_GPU_D2H,
	DLPROF_GPU_COPY,       /* copy within a device or between devices */
	DLPROF_GPU_SYNC_EVENT, /* the host waited for an event; below: for a stream, a context */
	DLPROF_GPU_SYNC_STREAM,
	DLPROF_GPU_SYNC_CONTEXT,
	DLPROF_GPU_LAUNCH,   /* launches that the host made, seen without CUPTI; `id`: count. With a
			      * device: time of a launch, and how long its kernels ran later */
	DLPROF_GPU_API_SYNC, /* a thread waited in a synchronizing call; `id`: the thread */
	DLPROF_GPU_API_COPY, /* a thread was in a copying call, which may wait; `id`: the thread */
	DLPROF_GPU_API_LAUNCH,
	DLPROF_GPU_LOADER, /* kernel of a GPU loader: counts as neither busy nor compute */
	DLPROF_GPU_KIND_MAX
};

static_assert(DLPROF_GPU_KIND_MAX <= 16, "it has 4 bits");

/*
 * Packs an operation into 32 bits: kind, low bits of the stream, and id. The id is the thread of a
 * kernel or a call (0: not known), the number of a graph, or, for a copy, DLPROF_GPU_PAGEABLE,
 * DLPROF_GPU_PEER, DLPROF_GPU_ANYWHERE or 0.
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
#define DLPROF_GPU_PEER		     2u /* the copy is from another device */
#define DLPROF_GPU_ANYWHERE	     4u /* the call does not say where source and target are */

/*
 * One operation of a GPU_OPS. The operation began at begin_ns + offset_ns on device `worker` (-1:
 * on no device in particular). Records arrive in any order and up to seconds late. If a record has
 * a single operation, its length is in duration_ns.
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
 * Data of a KERNEL: a part of a long name, in `mark`. The parts of a name are sent once, in order:
 * `stream` is the kernel's id, as in the class of its tally; `task` numbers the parts; only the
 * last part leaves `mark` partly empty.
 */
#define DLPROF_KERNEL_BYTES (128 * DLPROF_MARK_BYTES) /* longer names are cut */

enum dlprof_gpu_state_kind {
	DLPROF_GPU_ATTACHED,	/* from begin_ns on, all GPU operations are recorded */
	DLPROF_GPU_HOST,  /* from begin_ns on, calls of libcudart are recorded, no GPU operations */
	DLPROF_GPU_COMPLETE,	/* all operations that began before begin_ns have been sent */
	DLPROF_GPU_GAP_BEGIN,	/* from begin_ns on, GPU operations are missing; `why` says why */
	DLPROF_GPU_GAP_END,
};

enum dlprof_gpu_flag {
	DLPROF_GPU_WHOLE_GRAPHS = 1 << 0, /* a graph is one operation, without its kernels */
	DLPROF_GPU_WITH_KERNELS = 1 << 1, /* kernels are recorded, not only copies */
	DLPROF_GPU_WITH_CALLS = 1 << 2, /* calls of the host are recorded, with their threads */
};

/* Data of a GPU_STATE. The counts are sums since the process began. */
struct dlprof_gpu_state {
	uint32_t state;		/* enum dlprof_gpu_state_kind */
	uint32_t flags;		/* enum dlprof_gpu_flag */
	uint64_t record_count;
	uint64_t bad_count;	/* records left out because their times are impossible */
	uint64_t dropped_count;	/* records that CUPTI dropped */
	uint64_t own_drop_count; /* records dropped by the shim: no buffer, or a full ring */
	uint64_t overhead_ns;	/* time that CUPTI reports as its own overhead */
	char why[40];
};

struct dlprof_event {
	uint16_t kind;		/* enum dlprof_event_kind */
	uint16_t flags;		/* bits of enum dlprof_event_flag */
	int32_t worker;		/* worker's number; -1: none */
	uint64_t begin_ns;
	uint64_t duration_ns;
	/*
	 * Identifies the loader's iterator. With workers: the inode of the pipe that carries
	 * results from workers to the consumer, which is the same at both ends under fork, spawn
	 * and forkserver. Without workers: DLPROF_STREAM_LOCAL | DLPROF_STREAM_OF(the consumer's
	 * life), plus a count. In a loop marked by dlprof.h: DLPROF_STREAM_MARKS |
	 * DLPROF_STREAM_OF(the consumer's life). For a multiprocessing pool: DLPROF_STREAM_POOL |
	 * the pipe's inode, or a number for a thread pool's queue. A pool numbers its tasks once
	 * over all epochs, so its loads do not know their epoch: their generation is
	 * DLPROF_GENERATION_ANY, and the EPOCH names the epoch's first task.
	 */
	uint64_t stream;
	uint32_t generation;	/* epoch of the stream: task numbers restart in each */
	uint32_t task;		/* task number of the batch */
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
#define DLPROF_STREAM_POOL  (UINT64_C(1) << 61) /* never set together with the two bits above */
#define DLPROF_GENERATION_ANY UINT32_MAX

/*
 * Makes a 62-bit number for a process's life: its pid, of at most 22 bits, and its begin in units
 * of 16 us. Every life lasts longer than a unit. A number repeats after 208 days at the earliest.
 */
#define DLPROF_STREAM_TIME_BITS 40
#define DLPROF_STREAM_OF(pid, created_ns)                                                          \
	((uint64_t)(pid) << DLPROF_STREAM_TIME_BITS |                                              \
	 ((created_ns) >> 14 & ((UINT64_C(1) << DLPROF_STREAM_TIME_BITS) - 1)))

static_assert(sizeof(struct dlprof_event) == 128, "the record is the ABI of shim and drain");
