/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cuda/cudart.h"
#include "dlprof/event.h"

/* CUDA's dim3, passed by value. */
struct cuda_dim3 {
	unsigned int x, y, z;
};

#define BEGIN	      cudart_begin((uintptr_t)__builtin_frame_address(0))
#define END_LAUNCH    cudart_launch(false)
#define END_GRAPH     cudart_launch(true)
#define BEGIN_STREAM  , (BEGIN && (begin_ns = clock_now_ns()))
#define END_STREAM    cudart_synced(begin_ns, DLPROF_GPU_SYNC_STREAM)
#define BEGIN_EVENT   BEGIN_STREAM
#define END_EVENT     cudart_synced(begin_ns, DLPROF_GPU_SYNC_EVENT)
#define BEGIN_DEVICE  BEGIN_STREAM
#define END_DEVICE    cudart_synced(begin_ns, DLPROF_GPU_SYNC_CONTEXT)
#define BEGIN_COPY    BEGIN_STREAM
#define END_COPY      cudart_copied(begin_ns, count, kind)
#define BEGIN_COPY_2D BEGIN_STREAM
#define END_COPY_2D   cudart_copied(begin_ns, width * height, kind)
#define END_PEER      cudart_given(0, size)
#define END_SET	      cudart_given(1, 0)

#define BEGIN_STREAM_QUERY BEGIN_STREAM
#define END_STREAM_QUERY   cudart_polled(begin_ns, DLPROF_GPU_SYNC_STREAM, result)
#define BEGIN_EVENT_QUERY  BEGIN_STREAM
#define END_EVENT_QUERY	   cudart_polled(begin_ns, DLPROF_GPU_SYNC_EVENT, result)

enum { LIBRARY_CUDART, LIBRARY_DRIVER };

static const struct wrap_library libraries[] = {
	[LIBRARY_CUDART] = {.mark = "cudaDeviceSynchronize"},
	[LIBRARY_DRIVER] = {.mark = "cuCtxSynchronize"},
};

#define WRAP_ROWS	 "cuda/cudart.def"
#define WRAP_SET	 cudart_slots
#define WRAP_LIBRARIES	 libraries
#define WRAP_LIBRARY(id) LIBRARY_##id
#define WRAP_REACHED	 NULL
#define WRAP_STATE	 uint64_t begin_ns __attribute__((unused))
#include "slots/wrap_rows.h"
