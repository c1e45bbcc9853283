/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart.h - records what the host sees of CUDA: calls of libcudart, through the callers' import
 * slots like those of decoders; see cudart.def.
 *
 * With CUPTI these calls only count launches, so that CUPTI's silence is noticed. Without it they
 * are all there is: launches, how long the host was blocked, and bytes that were copied. Programs
 * that call the driver itself (XLA, Triton, CuPy) and libraries with a libcudart linked into them
 * (cuBLAS, cuDNN, NCCL) are then not seen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"
#include "dlprof/event.h"
#include "record/activate.h"
#include "slots/wrap.h"

/* Returns how many launches of kernels and graphs were seen in this process. */
uint64_t cudart_launch_count(void);

/* Returns when this process last launched a kernel or a graph, to about a microsecond; 0: never. */
uint64_t cudart_last_launch_ns(void);

/* The values of enum cudaMemcpyKind that matter here. */
enum {
	CUDART_TO_DEVICE = 1,
	CUDART_TO_HOST = 2,
	CUDART_WITHIN = 3,
	CUDART_ANYWHERE = 4,
};

/* Stack frame of this thread's outermost wrapper; 0: the thread is in none. */
extern HIDDEN __thread uintptr_t cudart_frame __attribute__((tls_model("initial-exec")));

/*
 * Returns, before the real call of a wrapper, whether to record it: of nested wrappers only the
 * outermost is recorded. TensorFlow has a library that exports the runtime's functions and passes
 * each call on to what dlsym() found: its callers get a wrapper, and so does the library itself. An
 * outer frame lies higher on the stack; one that does not was left by longjmp().
 */
static inline bool cudart_begin(uintptr_t frame)
{
	if (!activate_on() || unlikely(cudart_frame > frame))
		return false;
	cudart_frame = frame;
	return true;
}

/* For wrappers, after a call that is recorded. `kind` of a copy: enum cudaMemcpyKind. */
void cudart_launch(uint32_t graph);
void cudart_synced(uint64_t begin_ns, enum dlprof_gpu_kind kind);
void cudart_copied(uint64_t begin_ns, uint64_t bytes, int kind);

extern HIDDEN const struct wrap_set cudart_slots;
