/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_streams.h - which kernels are the training's, and which a GPU loader's.
 *
 * DALI, nvJPEG and similar libraries prepare batches by kernels. A GPU that is busy with these
 * while the training waits for a batch does not train: the training is input-bound.
 *
 * - A kernel with a loader's name is the loader's, wherever it runs.
 * - Other kernels belong to the owner of their stream. If the launching threads are known (CUDA
 *   13), a stream is the training's if the thread that takes the batches launches there, or one
 *   that shares a stream with it, as autograd's do. All other streams of that device are loaders',
 *   but for the default stream, which all callers get that name none.
 * - If the threads are not known, or the training's launches nothing on the device (TensorFlow
 *   launches in other threads), a stream is a loader's if kernels with loaders' names are half of
 *   its time. If they are less, its owner cannot be known.
 *
 * Pure. What was seen once holds for the rest of the run.
 */
#pragma once

#include "analysis/gpu/gpu_devices.h"

#define GPU_STREAMS_MOST     (1 << DLPROF_GPU_STREAM_BITS) /* streams are distinguished by the low
							    * bits of their numbers */
#define GPU_STREAMS_THREADS  4
#define GPU_STREAMS_DEFAULT  7    /* number of the default stream in CUPTI */
#define GPU_STREAMS_LAUNCHES 0.03 /* a thread owns a stream if it makes this share of the stream's
				   * launches */
#define GPU_STREAMS_KNOWN    0.02 /* a stream with a smaller share of the step does not matter */

struct gpu_stream {
	uint32_t threads[GPU_STREAMS_THREADS]; /* threads that launch to the stream; 0: no thread */
	uint32_t launches[GPU_STREAMS_THREADS];
	uint32_t count;            /* number of kernels */
	double named_ns, other_ns; /* time of kernels with a loader's name, and of other kernels */
};

/* What was seen of all streams; all zero at first. */
struct gpu_streams {
	uint64_t used[GPU_DEVICES_MOST]; /* bits of each device's streams that had kernels */
	struct gpu_stream at[GPU_DEVICES_MOST][GPU_STREAMS_MOST];
};

/* Notes the stream and thread of a kernel; the kernel need not be in a step. */
void gpu_streams_note(struct gpu_streams *streams, const struct gpu_op *op);

/*
 * Sets the `kind` of a loader's kernels to DLPROF_GPU_LOADER, and of others back. `training_thread`
 * 0: not known. Returns how many kernels are in doubt; these become loaders' if `doubtful_are`.
 */
size_t gpu_streams_mark(const struct gpu_streams *streams, uint32_t training_thread,
			bool doubtful_are, struct gpu_op *ops, size_t count);
