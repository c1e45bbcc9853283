/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_rows.h - the rows that say what the GPUs of a process did in the step of one batch. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/gpu/gpu_streams.h"
#include "drain/gpu/gpu_ops.h"
#include "store/write/write.h"

/* A batch that was delivered, and whose row is written. */
struct gpu_batch {
	int64_t loader_id, epoch, task;
	int64_t begin_ns, end_ns;
	int64_t wait_ns; /* WRITE_UNKNOWN: nobody saw it */
	uint32_t tid;    /* of the thread that fetched it; 0: not known */
	bool written;    /* what the GPU did in its step */
};

/* What is recorded of a process; of the rest its rows say that it is not known. */
struct gpu_rows {
	bool host; /* only calls of libcudart are seen */
	bool with_kernels;
	bool with_calls; /* of the host, by thread */
};

/* What was learnt of a process's devices and streams so far. */
struct gpu_seen {
	struct gpu_devices devices;
	struct gpu_streams streams;
};

/* What the row says beyond its columns. */
struct gpu_said {
	bool busy;        /* how long the GPU was busy */
	bool is_doubtful; /* nothing of that: whose kernels are whose cannot be told */
};

/* `ops` are sorted. 0 or -errno. */
int gpu_rows_write(struct writer *writer, const struct gpu_rows *what, const struct gpu_ops *ops,
		   struct gpu_seen *seen, const struct gpu_batch *batch, struct gpu_said *ret_said);
