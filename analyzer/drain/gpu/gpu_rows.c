/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/gpu/gpu_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu/gpu_step.h"
#include "analysis/statistics/array.h"

#define OPS_MOST ((size_t)1 << 20) /* most operations in memory; they take 32 MB */

static int compare_ops(const void *a, const void *b)
{
	const struct gpu_op *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Sorts by merging: all but the newest operations are sorted already. */
int gpu_ops_sort(struct gpu_ops *ops)
{
	size_t fresh = ops->count - ops->sorted_count, i = ops->sorted_count;
	size_t k = fresh, to = ops->count;
	struct gpu_op *copy;

	if (!fresh)
		return 0;
	copy = malloc(fresh * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, ops->items + i, fresh * sizeof(*copy));
	qsort(copy, fresh, sizeof(*copy), compare_ops);
	/* Merges from the end backwards, so as not to overwrite items that are still needed. */
	while (k)
		ops->items[--to] = i && ops->items[i - 1].begin_ns > copy[k - 1].begin_ns
					   ? ops->items[--i]
					   : copy[--k];
	free(copy);
	ops->sorted_count = ops->count;
	return 0;
}

void gpu_ops_forget(struct gpu_ops *ops, int64_t ns)
{
	size_t kept = 0;

	if (ns <= ops->forgotten_ns)
		return;
	ops->forgotten_ns = ns;
	ops->longest_ns = 0;
	for (size_t i = 0; i < ops->count; i++) {
		int64_t length_ns = ops->items[i].end_ns - ops->items[i].begin_ns;

		if (ops->items[i].end_ns < ns)
			continue;
		if (length_ns > ops->longest_ns)
			ops->longest_ns = length_ns;
		ops->items[kept++] = ops->items[i];
	}
	ops->count = ops->sorted_count = kept;
}

int gpu_ops_add(struct gpu_ops *ops, const struct gpu_op *op)
{
	if (ops->count >= OPS_MOST) {
		int r = gpu_ops_sort(ops);

		if (r < 0)
			return r;
		gpu_ops_forget(ops, ops->items[ops->count / 2].begin_ns);
	}
	if (!ARRAY_GROW(ops->items, ops->count))
		return -ENOMEM;
	ops->items[ops->count++] = *op;
	if (op->end_ns - op->begin_ns > ops->longest_ns)
		ops->longest_ns = op->end_ns - op->begin_ns;
	return 0;
}

static size_t find_begin(const struct gpu_ops *ops, int64_t ns)
{
	return ARRAY_PLACE(ops->count, i, ops->items[i].begin_ns < ns);
}

struct gpu_op *gpu_ops_find(const struct gpu_ops *ops, int64_t begin_ns, int64_t end_ns,
			    size_t *ret_count)
{
	size_t first = find_begin(ops, begin_ns - ops->longest_ns);

	*ret_count = find_begin(ops, end_ns) - first;
	/* Without operations `items` is NULL, and C does not define NULL + first. */
	return ops->items ? ops->items + first : NULL;
}

bool gpu_ops_has(const struct gpu_ops *ops, int64_t begin_ns, int64_t end_ns)
{
	size_t count;
	const struct gpu_op *found = gpu_ops_find(ops, begin_ns, end_ns, &count);

	for (size_t i = 0; i < count; i++)
		if (found[i].end_ns > begin_ns)
			return true;
	return false;
}

struct view {
	const struct gpu_batch *batch;
	struct gpu_op *ops;
	size_t count;
	struct gpu_step step;
	struct gpu_device_step devices[GPU_DEVICES_MOST];
	size_t device_count;
};

static void fill(const struct gpu_rows *what, const struct view *view, bool is_doubtful,
		 struct gpu_values *values)
{
	const struct gpu_batch *batch = view->batch;
	const struct gpu_step *step = &view->step;

	values->kernel_count = step->kernel_count;
	values->graph_count = step->graph_count;
	if (!step->anywhere_bytes) {
		values->h2d_bytes = step->h2d_bytes;
		values->d2h_bytes = step->d2h_bytes;
	}
	values->sync_event_ns = step->sync_event_ns;
	values->sync_stream_ns = step->sync_stream_ns;
	values->sync_context_ns = step->sync_context_ns;
	if (what->host)
		return;
	values->h2d_ns = step->h2d_ns;
	values->d2h_ns = step->d2h_ns;
	values->memset_ns = step->memset_ns;
	values->h2d_pageable_bytes = step->h2d_pageable_bytes;
	if (!what->with_kernels) {
		values->kernel_count = values->graph_count = UNKNOWN;
		return;
	}
	if (is_doubtful)
		return;
	values->nccl_ns = step->nccl_ns;
	values->gpu_compute_ns = step->compute_ns;
	values->gpu_loading_ns = step->loading_ns;
	values->gpu_busy_ns = step->busy_ns;
	if (batch->wait_ns == UNKNOWN)
		return;
	values->gpu_idle_wait_ns = step->gap_data_ns;
	values->gap_data_ns = step->gap_data_ns;
	values->gap_h2d_ns = step->gap_h2d_ns;
	values->gap_sync_ns = step->gap_sync_ns;
	values->gap_host_ns = step->gap_host_ns;
	values->gap_other_ns = step->gap_other_ns;
}

static int write_calls(struct writer *writer, const struct gpu_batch *batch,
		       const struct gpu_op *ops, size_t count)
{
	struct gpu_call_values values = {batch->loader_id, batch->epoch, batch->task};
	struct gpu_calls calls;

	gpu_calls_measure(ops, count, batch->begin_ns, batch->end_ns, batch->tid, &calls);
#define X(name)                                                                                    \
	values.name = batch->tid ? calls.training.name : UNKNOWN;                            \
	values.other_##name = calls.others.name;
	GPU_CALL_TRAINING(X)
#undef X
	return writer_gpu_call(writer, &values);
}

static int write_devices(struct writer *writer, const struct gpu_batch *batch,
			 const struct gpu_device_step *steps, size_t count)
{
	bool waited = batch->wait_ns != UNKNOWN;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = writer_gpu_device(writer, &(struct gpu_device_row){
						      .loader_id = batch->loader_id,
						      .epoch = batch->epoch,
						      .task = batch->task,
						      .device = steps[i].device,
						      .fed = steps[i].fed,
						      .busy_ns = steps[i].busy_ns,
						      .idle_wait_ns = waited ? steps[i].gap_data_ns
									     : UNKNOWN,
						      .kernel_count = steps[i].kernel_count,
						      .graph_count = steps[i].graph_count,
						      .h2d_bytes = steps[i].h2d_bytes,
						      .peer_bytes = steps[i].peer_bytes,
					      });
	return r;
}

/* Measures each part of a step like a whole step. The GPU is idle when all its devices are. */
static int write_parts(struct writer *writer, const struct gpu_rows *what,
		       const struct gpu_ops *all, const struct view *view)
{
	const struct gpu_batch *batch = view->batch;
	int64_t idle_ns[GPU_PARTS], launched_ns[GPU_PARTS];
	struct gpu_part_values values = {
		batch->loader_id, batch->epoch, batch->task,
		.refill_ns = batch->wait_ns == UNKNOWN ? UNKNOWN : view->step.refill_ns,
	};

	for (int i = 0; i < GPU_PARTS; i++) {
		const int64_t begin_ns = batch->edges[i], end_ns = batch->edges[i + 1];
		struct gpu_step part;
		size_t count;
		const struct gpu_op *ops = gpu_ops_find(all, begin_ns, end_ns, &count);

		idle_ns[i] = launched_ns[i] = UNKNOWN;
		if (!batch->edges[GPU_PARTS])
			continue;
		if (gpu_step_measure(ops, count, begin_ns, begin_ns, end_ns, &part) < 0)
			return -ENOMEM;
		idle_ns[i] = part.gap_sync_ns + part.gap_host_ns + part.gap_other_ns;
		if (what->with_calls)
			launched_ns[i] = part.launched_ns;
	}
	memcpy(&values.idle_before_ns, idle_ns, sizeof(idle_ns));
	memcpy(&values.launched_before_ns, launched_ns, sizeof(launched_ns));
	return writer_gpu_part(writer, &values);
}

static int measure(struct gpu_devices *devices, struct view *view)
{
	const struct gpu_batch *batch = view->batch;
	int64_t wait_ns = batch->wait_ns == UNKNOWN ? 0 : batch->wait_ns;

	return gpu_devices_measure(devices, view->ops, view->count, batch->begin_ns,
				   batch->begin_ns + wait_ns, batch->end_ns, &view->step,
				   view->devices, &view->device_count);
}

/* Measures with and without the kernels that may be a GPU loader's: doubtful if results differ. */
static int measure_both(struct gpu_seen *seen, struct view *view, bool *ret_is_doubtful)
{
	const struct gpu_batch *batch = view->batch;
	struct gpu_devices devices = seen->devices;
	int64_t gap_ns = 0;
	int r = 0;

	if (gpu_streams_mark(&seen->streams, batch->tid, true, view->ops, view->count))
		r = measure(&devices, view);
	gap_ns = view->step.gap_data_ns;
	if (r < 0 || !gpu_streams_mark(&seen->streams, batch->tid, false, view->ops, view->count))
		return r < 0 ? r : measure(&seen->devices, view);
	r = measure(&seen->devices, view);
	*ret_is_doubtful = (double)llabs(gap_ns - view->step.gap_data_ns) >
			   GPU_STREAMS_KNOWN * (double)(batch->end_ns - batch->begin_ns);
	return r;
}

int gpu_rows_write(struct writer *writer, const struct gpu_rows *what, const struct gpu_ops *all,
		   struct gpu_seen *seen, const struct gpu_batch *batch, struct gpu_said *ret_said)
{
	struct view view = {.batch = batch};
	struct gpu_values values;
	int r;

	view.ops = gpu_ops_find(all, batch->begin_ns, batch->end_ns, &view.count);
	r = measure_both(seen, &view, &ret_said->is_doubtful);
	if (r == 0 && what->with_kernels && !ret_said->is_doubtful)
		r = write_devices(writer, batch, view.devices, view.device_count);
	if (r < 0)
		return r;
	gpu_values_init(&values);
	values.loader_id = batch->loader_id;
	values.epoch = batch->epoch;
	values.task = batch->task;
	fill(what, &view, ret_said->is_doubtful, &values);
	ret_said->busy = values.gpu_busy_ns != UNKNOWN;
	if (values.gpu_idle_wait_ns != UNKNOWN)
		gpu_streams_mask(&seen->streams, view.ops, view.count, batch->begin_ns,
				 batch->begin_ns + batch->wait_ns, batch->end_ns);
	r = writer_gpu_step(writer, &values);
	if (r == 0 && ret_said->busy)
		r = write_parts(writer, what, all, &view);
	if (r == 0 && what->with_calls)
		r = write_calls(writer, batch, view.ops, view.count);
	return r;
}
