/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart.h - records the host's calls of libcudart, by the same import slots as calls of decoders;
 * see cudart.def.
 *
 * With CUPTI these calls only count launches, to notice when CUPTI is silent. Without CUPTI they
 * are all that is recorded: launches, how long the host was blocked, and copied bytes. Calls by
 * programs that use the driver directly (XLA, Triton, CuPy) or by libraries with their own
 * libcudart (cuBLAS, cuDNN, NCCL) are then not seen.
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

/* Returns when this process last launched a kernel or a graph, to about 1 us; 0 if it never did. */
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
 * Decides, before a wrapper's real call, whether to record it: of nested wrappers, only the
 * outermost one records. Wrappers nest in TensorFlow, whose own library of the runtime's functions
 * passes calls on to what dlsym() found: callers get a wrapper, and so does that library. An outer
 * wrapper's frame lies higher on the stack; if cudart_frame lies lower, longjmp() left it.
 */
static inline bool cudart_begin(uintptr_t frame)
{
	if (!activate_on() || unlikely(cudart_frame > frame))
		return false;
	cudart_frame = frame;
	return true;
}

/* Called by wrappers after a recorded call. `kind` of a copy: enum cudaMemcpyKind. */
void cudart_launch(uint32_t graph);
void cudart_synced(uint64_t begin_ns, enum dlprof_gpu_kind kind);
void cudart_copied(uint64_t begin_ns, uint64_t bytes, int kind);

extern HIDDEN const struct wrap_set cudart_slots;
