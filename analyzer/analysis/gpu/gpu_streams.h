/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_streams.h - which kernels are the training's, and which a GPU loader's.
 *
 * DALI, nvJPEG and their like prepare batches by kernels. A GPU that is busy with these while the
 * training waits for a batch is no busy GPU: the training is input-bound.
 *
 * - A kernel with a loader's name is the loader's, wherever it runs.
 * - Other kernels belong to the owner of their stream. Where the launching threads are known (CUDA
 *   13), a stream is the training's if the thread that fetches the batches launches there, or one
 *   that shares a stream with it, as autograd's do. All other streams of that device are loaders',
 *   but for the default stream, which anybody gets who names none.
 * - Where the threads are not known, or the training's launches nothing on the device (TensorFlow
 *   does that elsewhere), a stream is a loader's if loaders' names are half of its time. With less,
 *   it cannot be told.
 *
 * Pure. What was seen once holds for the rest of the run.
 */
#pragma once

#include "analysis/gpu/gpu_devices.h"

#define GPU_STREAMS_MOST     (1 << DLPROF_GPU_STREAM_BITS) /* told apart by the low bits of their
							    * numbers */
#define GPU_STREAMS_THREADS  4
#define GPU_STREAMS_DEFAULT  7    /* as CUPTI numbers it */
#define GPU_STREAMS_LAUNCHES 0.03 /* share of a stream's launches that makes a thread its own */
#define GPU_STREAMS_KNOWN    0.02 /* share of the step: a stream with less does not matter */

struct gpu_stream {
	uint32_t threads[GPU_STREAMS_THREADS]; /* 0: none */
	uint32_t launches[GPU_STREAMS_THREADS];
	uint32_t count;            /* kernels */
	double named_ns, other_ns; /* kernels with a loader's name, and others */
};

/* All streams; all zero at first. */
struct gpu_streams {
	uint64_t used[GPU_DEVICES_MOST]; /* bits: streams with kernels */
	struct gpu_stream at[GPU_DEVICES_MOST][GPU_STREAMS_MOST];
};

/* Notes the stream and thread of a kernel, in a step or not. */
void gpu_streams_note(struct gpu_streams *streams, const struct gpu_op *op);

/*
 * Sets the `kind` of kernels to DLPROF_GPU_LOADER or back. `training_thread` 0: not known. Returns
 * how many kernels are in doubt; these are loaders' if `doubtful_are`.
 */
size_t gpu_streams_mark(const struct gpu_streams *streams, uint32_t training_thread,
			bool doubtful_are, struct gpu_op *ops, size_t count);
