/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_ops.h - keeps the GPU operations of a process that may belong to a step not yet measured. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/gpu/gpu_step.h"

/* Must be all zero at first. */
struct gpu_ops {
	struct gpu_op *items;
	size_t count, sorted_count;
	int64_t longest_ns;
	int64_t forgotten_ns; /* operations that ended before this time are forgotten */
};

void gpu_ops_done(struct gpu_ops *ops);

int gpu_ops_add(struct gpu_ops *ops, const struct gpu_op *op);

/* Call this before the functions below. */
int gpu_ops_sort(struct gpu_ops *ops);

void gpu_ops_forget(struct gpu_ops *ops, int64_t ns);

/* Finds the operations that may overlap [begin_ns, end_ns), sorted by their start. */
struct gpu_op *gpu_ops_find(const struct gpu_ops *ops, int64_t begin_ns, int64_t end_ns,
			    size_t *ret_count);

bool gpu_ops_has(const struct gpu_ops *ops, int64_t begin_ns, int64_t end_ns);
