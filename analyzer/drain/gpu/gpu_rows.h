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
	int64_t wait_ns; /* UNKNOWN: the wait was not seen */
	uint32_t tid;    /* thread that fetched it; 0: not known */
	bool written;    /* its GPU rows are written */
};

/* What is recorded of a process; its rows say of all else that it is not known. */
struct gpu_rows {
	bool host; /* only calls of libcudart are seen */
	bool with_kernels;
	bool with_calls; /* calls of the host are recorded, by thread */
};

/* What was seen of a process's devices and streams so far. */
struct gpu_seen {
	struct gpu_devices devices;
	struct gpu_streams streams;
};

/* What was found, beyond the row's columns. */
struct gpu_said {
	bool busy;        /* the GPU's busy time is known */
	bool is_doubtful; /* it is not, as kernels cannot be told apart */
};

/* Writes a step's rows; `ops` are sorted. 0 or -errno. */
int gpu_rows_write(struct writer *writer, const struct gpu_rows *what, const struct gpu_ops *ops,
		   struct gpu_seen *seen, const struct gpu_batch *batch, struct gpu_said *ret_said);
