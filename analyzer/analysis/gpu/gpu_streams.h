/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_streams.h - tells the training's kernels from those of a GPU loader.
 *
 * DALI, nvJPEG and similar libraries prepare batches by kernels. A GPU that runs these while the
 * training waits for a batch does not train.
 *
 * - A kernel whose name is a loader's belongs to the loader, in any stream.
 * - Other kernels belong to the owner of their stream. If launching threads are known (CUDA 13),
 *   streams of the thread that takes the batches are the training's, and of threads that share one
 *   with it, as autograd's do. Other streams of that device are loaders', except the default
 *   stream.
 * - If threads are unknown, or the training's launches nothing on the device (TensorFlow launches
 *   in other threads), a stream is a loader's if kernels with loaders' names take at least half of
 *   its time. If they take less, the owner is in doubt.
 *
 * What is observed once holds for the rest of the run.
 */
#pragma once

#include "analysis/gpu/gpu_devices.h"

/* streams that a stream's low bits distinguish */
#define GPU_STREAMS_MOST     (1 << DLPROF_GPU_STREAM_BITS)
#define GPU_STREAMS_THREADS  4
#define GPU_STREAMS_DEFAULT  7
/* a thread owns a stream if it makes at least this share of the stream's launches */
#define GPU_STREAMS_LAUNCHES 0.03
/* streams in doubt are ignored if busy for a smaller share of the step */
#define GPU_STREAMS_KNOWN    0.02

struct gpu_stream {
	uint32_t threads[GPU_STREAMS_THREADS]; /* threads that launch to the stream; 0: no thread */
	uint32_t launches[GPU_STREAMS_THREADS];
	uint32_t count;
	double named_ns, other_ns; /* time of kernels with a loader's name, and of others */
};

/* All zero at first. */
struct gpu_streams {
	uint64_t used[GPU_DEVICES_MOST]; /* bit i of a device: its stream i ran a kernel */
	struct gpu_stream at[GPU_DEVICES_MOST][GPU_STREAMS_MOST];
};

/* `op` need not belong to a step. */
void gpu_streams_note(struct gpu_streams *streams, const struct gpu_op *op);

/*
 * Sets or clears DLPROF_GPU_LOADER in each operation. An operation that may or may not be a
 * loader's is doubtful: it gets `doubtful_are`. Returns the number of doubtful operations.
 */
size_t gpu_streams_mark(const struct gpu_streams *streams, uint32_t training_thread,
			bool doubtful_are, struct gpu_op *ops, size_t count);
