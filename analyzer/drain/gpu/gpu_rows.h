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

/* Operations of a process that may belong to a step not yet measured; all zero at first. */
struct gpu_ops {
	struct gpu_op *items;
	size_t count, sorted_count;
	int64_t longest_ns;
	int64_t forgotten_ns; /* operations that ended before this time are forgotten */
};

void gpu_ops_done(struct gpu_ops *ops);

int gpu_ops_add(struct gpu_ops *ops, const struct gpu_op *op);

/* Sorts the operations by begin; the functions below need that. */
int gpu_ops_sort(struct gpu_ops *ops);

void gpu_ops_forget(struct gpu_ops *ops, int64_t ns);

/* Finds the operations that may overlap [begin_ns, end_ns), sorted by their start. */
struct gpu_op *gpu_ops_find(const struct gpu_ops *ops, int64_t begin_ns, int64_t end_ns,
			    size_t *ret_count);

bool gpu_ops_has(const struct gpu_ops *ops, int64_t begin_ns, int64_t end_ns);

struct gpu_batch {
	int64_t loader_id, epoch, task;
	int64_t begin_ns, end_ns;
	int64_t wait_ns;
	uint32_t tid; /* thread that took the batch; 0: unknown */
	bool written;
	int64_t edges[GPU_PARTS + 1]; /* begins of the parts, then the last end (0: all unknown) */
};

/* What the process records of its GPUs. Columns about what is not recorded are NULL. */
struct gpu_rows {
	bool host; /* only the host's calls of libcudart are recorded */
	bool with_kernels;
	bool with_calls; /* the host's CUDA calls are recorded, for each thread */
};

struct gpu_seen {
	struct gpu_devices devices;
	struct gpu_streams streams;
};

struct gpu_said {
	bool busy;
	/* the busy time is unknown, because it is in doubt whose kernels ran */
	bool is_doubtful;
};

/* Writes the rows of a step. `ops` must be sorted. */
int gpu_rows_write(struct writer *writer, const struct gpu_rows *what, const struct gpu_ops *ops,
		   struct gpu_seen *seen, const struct gpu_batch *batch, struct gpu_said *ret_said);
