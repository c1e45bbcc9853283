/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_trace.h - operations of a GPU in order of time, and the places of those that are alike. */
#ifndef GPU_TRACE_H
#define GPU_TRACE_H

#include "analysis/rhythm.h"

/* Later ones are one: they explain nothing, and are no anchor. */
#define GPU_TRACE_SIGNATURES 4096

/* What is the same signal in another form is one sort. */
enum sort { SORT_COMPUTE, SORT_INPUT, SORT_READ_BACK, SORT_OTHER, SORT_MAX };

struct signature {
	uint64_t value;
	uint32_t stream;
	uint32_t first, count; /* of its places */
	enum sort sort;
	bool is_optimizer;
	double spread; /* of the distances between its places: standard deviation / mean */
};

struct gpu_trace {
	const struct rhythm_op *ops; /* sorted */
	struct rhythm_op *sorted;    /* NULL: they were */
	size_t count;
	struct signature *signatures; /* 0: all that have no number of their own */
	size_t signature_count;
	uint32_t *which;  /* of each operation */
	uint32_t *places; /* of each signature */
};

/* Of operations in any order, at most UINT32_MAX. 0 or -ENOMEM; to be closed either way. */
int gpu_trace_open(const struct rhythm_op *ops, size_t count, struct gpu_trace *ret);
void gpu_trace_close(struct gpu_trace *trace);

/* Its signature's value, never 0. */
uint64_t gpu_trace_sign(const struct rhythm_op *op);

#endif
