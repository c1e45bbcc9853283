/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_rows.h - writes what the GPUs of a process did in the step of one batch. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/gpu/gpu_streams.h"
#include "drain/gpu/gpu_ops.h"
#include "store/write/write.h"

/* A batch that was delivered and has a row. */
struct gpu_batch {
	int64_t loader_id, epoch, task;
	int64_t begin_ns, end_ns;
	int64_t wait_ns; /* time waited for the batch; UNKNOWN: not recorded */
	uint32_t tid;    /* thread that took the batch; 0: not known */
	bool written;    /* the batch's GPU rows are written */
};

/* What is recorded of a process's GPU work; all other columns of its rows are NULL. */
struct gpu_rows {
	bool host; /* only calls of libcudart are recorded, on the host */
	bool with_kernels;
	bool with_calls; /* the host's CUDA calls are recorded, by thread */
};

/* The devices and streams of a process that were used so far. */
struct gpu_seen {
	struct gpu_devices devices;
	struct gpu_streams streams;
};

/* What the measurement of a step found, beyond the columns. */
struct gpu_said {
	/* the busy time is known */
	bool busy;
	/* busy time is unknown, as it matters whose kernels ran */
	bool is_doubtful;
};

/* Writes the GPU rows of one step; `ops` must be sorted. Returns 0 or -errno. */
int gpu_rows_write(struct writer *writer, const struct gpu_rows *what, const struct gpu_ops *ops,
		   struct gpu_seen *seen, const struct gpu_batch *batch, struct gpu_said *ret_said);
