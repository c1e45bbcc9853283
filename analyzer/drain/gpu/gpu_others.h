/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_others.h - finds another program that used the run's GPU, and writes the meta row gpu_shared.
 *
 * A child of the drain asks NVML now and then: with a broken driver, the call may never return.
 * GPUs on which no process of the run ran kernels lately are ignored. A process may have a context
 * on a GPU that it does not use, and NVML's pids mean other processes in another PID namespace.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct gpu_others_told;

/* Must be all zero at first. */
struct gpu_others {
	pid_t child; /* the process that asks NVML; 0: none */
	struct gpu_others_told *told;
	uint64_t begun_ns, next_ns;
	uint64_t since_us; /* when the run was first seen to use the GPU, by CLOCK_REALTIME */
	unsigned int percent; /* the other program's share, as the meta row says; 0: no row yet */
};

int gpu_others_update(struct gpu_others *others, struct writer *writer,
		      struct segment *const *segments, size_t count, uint64_t now_ns);

void gpu_others_done(struct gpu_others *others);
