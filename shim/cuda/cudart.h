/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart.h - records the host's calls of libcudart, by import slots, and memsets, copies between
 * GPUs and queries by libcuda.
 *
 * With CUPTI, these calls only show whether CUPTI is silent though the host launches. Without
 * CUPTI, nothing else is recorded: neither other calls of the driver (by XLA, Triton, CuPy), nor
 * those of libraries with a libcudart of their own (cuBLAS, cuDNN, NCCL).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"
#include "dlprof/event.h"
#include "record/activate.h"
#include "slots/wrap.h"

uint64_t cudart_launch_count(void);

/* Returns the time of the host's last launch, exact to about 1 us; 0: no launch was observed. */
uint64_t cudart_last_launch_ns(void);

enum {
	CUDART_TO_DEVICE = 1,
	CUDART_TO_HOST = 2,
	CUDART_WITHIN = 3,
	CUDART_ANYWHERE = 4,
};

/* address of the stack frame of this thread's outermost wrapper; 0: the thread is in none */
extern HIDDEN __thread uintptr_t cudart_frame __attribute__((tls_model("initial-exec")));

/*
 * Returns true in the outermost wrapper, which alone records: TensorFlow has functions of the same
 * names, which call ours. If cudart_frame is below `frame`, longjmp() left the wrapper that set it.
 */
static inline bool cudart_begin(uintptr_t frame)
{
	if (!activate_on() || unlikely(cudart_frame > frame))
		return false;
	cudart_frame = frame;
	return true;
}

/* Record a call of libcudart that has returned: a launch, a wait for the GPU, or a copy. */
void cudart_launch(uint32_t graph);
void cudart_synced(uint64_t begin_ns, enum dlprof_gpu_kind kind);
void cudart_copied(uint64_t begin_ns, uint64_t bytes, int kind);

/* Count memsets and bytes copied between GPUs, of which the drain is told with later calls. */
void cudart_given(uint64_t memsets, uint64_t peer_bytes);

/* Records a query and its result. Queries in a row may be a wait (polls.h). */
void cudart_polled(uint64_t begin_ns, enum dlprof_gpu_kind kind, int result);

extern HIDDEN const struct wrap_set cudart_slots;
