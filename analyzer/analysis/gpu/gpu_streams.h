/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_streams.h - tells the training's kernels from those of a GPU loader.
 *
 * DALI, nvJPEG and similar libraries prepare batches by kernels. A GPU that runs these while the
 * training waits for a batch does not train.
 *
 * - A kernel with a name that only loaders use belongs to the loader, in any stream.
 * - Any other kernel belongs to the owner of its stream. If the launching threads are known (CUDA
 *   13), the training owns the streams of the thread that takes the batches, and of threads that
 *   share a stream with it, as autograd's threads do. It also owns the default stream. All other
 *   streams of that device belong to loaders.
 * - If threads are unknown, or the training thread launches nothing on the device (TensorFlow
 *   launches in other threads), a stream belongs to a loader if kernels with loaders' names take at
 *   least half of its time. If they take less, the owner is in doubt.
 *
 * Threads and names of kernels are observed over all of the run so far.
 */
#pragma once

#include "analysis/gpu/gpu_devices.h"

/* this many streams are told apart, by the low bits of their number */
#define GPU_STREAMS_MOST     (1 << DLPROF_GPU_STREAM_BITS)
#define GPU_STREAMS_THREADS  4
#define GPU_STREAMS_DEFAULT  7
/* a thread counts as a stream's if it makes at least this share of the stream's launches */
#define GPU_STREAMS_LAUNCHES 0.03
/* streams in doubt are ignored if they are busy for a smaller share of the step */
#define GPU_STREAMS_KNOWN    0.02

struct gpu_stream {
	uint32_t threads[GPU_STREAMS_THREADS]; /* threads that launch to the stream; 0: no thread */
	uint32_t launches[GPU_STREAMS_THREADS];
	uint32_t count;
	double named_ns, other_ns; /* time of kernels with a loader's name, and of other kernels */
	double wait_ns, rest_ns;   /* time of kernels in the training's waits, and outside */
};

/* What the streams of all devices have done so far. All zero at first. */
struct gpu_streams {
	uint64_t used[GPU_DEVICES_MOST]; /* bit i of used[d]: stream i of device d ran a kernel */
	struct gpu_stream at[GPU_DEVICES_MOST][GPU_STREAMS_MOST];
	double wait_ns, rest_ns;
	double masked_ns;
};

/* Notes which thread launches to which stream. The operation need not belong to a step. */
void gpu_streams_note(struct gpu_streams *streams, const struct gpu_op *op);

/*
 * Sets DLPROF_GPU_LOADER in the operations of GPU loaders, and clears it in others. Where it is
 * doubtful whether a stream belongs to a loader, sets the mark if `doubtful_are` is true. Returns
 * the number of doubtful operations.
 */
size_t gpu_streams_mark(const struct gpu_streams *streams, uint32_t training_thread,
			bool doubtful_are, struct gpu_op *ops, size_t count);

/*
 * Measures how long, in the step's wait for a batch, kernels of other streams kept a GPU busy while
 * its starved stream was idle. A stream is starved if its kernels run mostly outside of waits.
 * Streams of known threads are left out, as gpu_streams_mark() knows their owner.
 */
void gpu_streams_mask(struct gpu_streams *streams, const struct gpu_op *ops, size_t count,
		      int64_t begin_ns, int64_t wait_end_ns, int64_t end_ns);
