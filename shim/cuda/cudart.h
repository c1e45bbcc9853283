/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart.h - what the host sees of CUDA: calls of libcudart, through the callers' own slots like
 * those of decoders: cudart.def.
 *
 * With CUPTI they only count launches, so that its falling silent is noticed. Without it they are
 * all there is: launches, how long the host was blocked, and bytes that were copied. Programs that
 * call the driver itself (XLA, Triton, CuPy) and libraries with a libcudart linked into them
 * (cuBLAS, cuDNN, NCCL) are then not seen.
 */
#pragma once

#include <stdint.h>

#include "dlprof/event.h"
#include "slots/wrap.h"

/* How many kernels and graphs this process was seen to launch. */
uint64_t cudart_launch_count(void);

/* When this process last launched a kernel or a graph, to about a microsecond; 0: never. */
uint64_t cudart_last_launch_ns(void);

/* enum cudaMemcpyKind, as far as it matters. */
enum {
	CUDART_TO_DEVICE = 1,
	CUDART_TO_HOST = 2,
	CUDART_WITHIN = 3,
	CUDART_ANYWHERE = 4,
};

/* For the wrappers, after the real call. `kind`: enum cudaMemcpyKind. */
void cudart_launch(uint32_t graph);
void cudart_synced(uint64_t begin_ns, enum dlprof_gpu_kind kind);
void cudart_copied(uint64_t begin_ns, uint64_t bytes, int kind);

extern HIDDEN const struct wrap_set cudart_slots;
