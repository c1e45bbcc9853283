/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_rows.h - writes the GPU rows of a batch's step. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/gpu/gpu_step.h"
#include "analysis/gpu/gpu_streams.h"
#include "analysis/gpu/gpu_use.h"
#include "store/write/write.h"

/* A process's operations whose steps may still be measured; all zero at first. */
struct gpu_ops {
	struct gpu_op *items;
	size_t count, sorted_count;
	int64_t longest_ns;
	int64_t forgotten_ns; /* operations that ended before this time were forgotten */
};

int gpu_ops_add(struct gpu_ops *ops, const struct gpu_op *op);

/* Sorts the operations by their start, as the functions below need. */
int gpu_ops_sort(struct gpu_ops *ops);

void gpu_ops_forget(struct gpu_ops *ops, int64_t ns);

/* Finds a range of operations, sorted by start, with all that overlap [begin_ns, end_ns). */
struct gpu_op *gpu_ops_find(const struct gpu_ops *ops, int64_t begin_ns, int64_t end_ns,
			    size_t *ret_count);

bool gpu_ops_has(const struct gpu_ops *ops, int64_t begin_ns, int64_t end_ns);

struct gpu_batch {
	int64_t loader_id, epoch, task;
	int64_t begin_ns, end_ns;
	int64_t wait_ns;
	uint32_t tid; /* thread that took the batch; 0: unknown */
	bool written;
	int64_t edges[GPU_PARTS + 1]; /* where the parts begin, and the last ends (0: unknown) */
};

/* What is recorded of a process's GPUs. Columns about the rest are NULL. */
struct gpu_rows {
	bool host; /* only calls of libcudart are recorded, and timed on the host */
	bool with_kernels;
	bool with_calls; /* CUDA calls on the host are recorded, with their threads */
};

struct gpu_seen {
	struct gpu_devices devices;
	struct gpu_streams streams;
};

struct gpu_said {
	bool busy;
	/* the busy time is unknown: kernels may be the training's or a GPU loader's */
	bool is_doubtful;
};

/* Writes the rows of a step. `ops` must be sorted. */
int gpu_rows_write(struct writer *writer, const struct gpu_rows *what, const struct gpu_ops *ops,
		   struct gpu_seen *seen, const struct gpu_batch *batch, struct gpu_said *ret_said);
