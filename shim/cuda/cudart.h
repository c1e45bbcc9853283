/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart.h - what the host sees of CUDA: calls of libcudart, through the callers' own slots like
 * those of decoders (decode/decode.def).
 *
 * With CUPTI they only count launches, so that its falling silent is noticed. Without it they are
 * all there is: launches, how long the host was blocked, and bytes that were copied. Programs that
 * call the driver itself (XLA, Triton, CuPy) and libraries with a libcudart linked into them
 * (cuBLAS, cuDNN, NCCL) are then not seen.
 */
#ifndef CUDA_CUDART_H
#define CUDA_CUDART_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"
#include "record/thread.h"

/* When this process launched a kernel or a graph the last time, to a microsecond or so; 0: never.
 */
uint64_t cudart_last_launch_ns(void);

/* enum cudaMemcpyKind, as far as it matters. */
enum {
	CUDART_TO_DEVICE = 1,
	CUDART_TO_HOST = 2,
	CUDART_WITHIN = 3,
	CUDART_ANYWHERE = 4,
};

/* For the wrappers. */
void cudart_launch(uint32_t graph);
void cudart_synced(uint64_t begin_ns, enum dlprof_gpu_kind kind);
/* `kind`: enum cudaMemcpyKind. */
void cudart_copied(uint64_t begin_ns, uint64_t bytes, int kind);

/* Sends the launches that were counted and not sent yet. */
void cudart_send_launches(struct thread *thread);

/* That began in this process. Launches of two never share a record, whatever thread they are of. */
extern HIDDEN _Atomic uint32_t cudart_steps;

static inline void cudart_step(struct thread *thread)
{
	if (unlikely(thread->launch_count))
		cudart_send_launches(thread);
}

static inline void cudart_new_step(struct thread *thread)
{
	atomic_fetch_add_explicit(&cudart_steps, 1, memory_order_relaxed);
	cudart_step(thread);
}

#endif
