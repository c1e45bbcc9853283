/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/beat.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/rhythm.h"

static bool make_rhythm_op(const struct gpu_op *op, struct rhythm_op *ret)
{
	static const uint8_t kinds[DLPROF_GPU_KIND_MAX] = {
		[DLPROF_GPU_KERNEL] = RHYTHM_KERNEL + 1,
		[DLPROF_GPU_NCCL] = RHYTHM_KERNEL + 1,
		[DLPROF_GPU_GRAPH] = RHYTHM_GRAPH + 1,
		[DLPROF_GPU_MEMSET] = RHYTHM_MEMSET + 1,
		[DLPROF_GPU_H2D] = RHYTHM_H2D + 1,
		[DLPROF_GPU_D2H] = RHYTHM_D2H + 1,
		[DLPROF_GPU_SYNC_EVENT] = RHYTHM_SYNC + 1,
		[DLPROF_GPU_SYNC_STREAM] = RHYTHM_SYNC + 1,
		[DLPROF_GPU_SYNC_CONTEXT] = RHYTHM_SYNC + 1,
	};
	uint8_t kind = op->kind < DLPROF_GPU_KIND_MAX ? kinds[op->kind] : 0;
	uint32_t id = DLPROF_GPU_WHAT_ID(op->what);

	if (!kind)
		return false;
	*ret = (struct rhythm_op){
		.begin_ns = op->begin_ns,
		.end_ns = op->end_ns,
		.id = kind == RHYTHM_SYNC + 1                                 ? op->kind
		      : kind == RHYTHM_KERNEL + 1 || kind == RHYTHM_GRAPH + 1 ? id
									      : 0,
		.bytes = op->bytes,
		.stream = DLPROF_GPU_WHAT_STREAM(op->what) | (uint32_t)(op->device + 1) << 8,
		.kind = kind - 1,
		.is_optimizer = kind == RHYTHM_KERNEL + 1 && (id & DLPROF_GPU_OPTIMIZER),
	};
	return true;
}

static int write_step(const struct beat *beat, const struct gpu_batch *batch)
{
	struct batch_values values;
	int r;

	batch_values_init(&values);
	values.loader_id = batch->loader_id;
	values.epoch = batch->epoch;
	values.task = values.batch = batch->task;
	values.begin_ns = batch->begin_ns;
	values.step_ns = batch->end_ns - batch->begin_ns;
	r = writer_batch(beat->writer, &values);
	return r < 0 ? r : beat->measure(beat->context, batch);
}

static int write_steps(const struct beat *beat, struct rhythm *rhythm, const struct rhythm_op *ops,
		       size_t count)
{
	struct loader_row loader = {
		.pid = beat->pid,
		.workers = WRITE_UNKNOWN,
		.prefetch_factor = WRITE_UNKNOWN,
		.in_order = WRITE_UNKNOWN,
		.persistent = WRITE_UNKNOWN,
		.batch_size = WRITE_UNKNOWN,
		.kind = "cuda",
	};
	struct epoch_row epoch = {.setup_ns = WRITE_UNKNOWN, .stream = -1, .generation = beat->pid};
	int64_t begin_ns = INT64_MIN, number = 0;
	int r = writer_loader(beat->writer, &loader, &epoch.loader_id);

	rhythm->armed = false;
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (!rhythm_is_step(rhythm, &ops[i]))
			continue;
		if (begin_ns == INT64_MIN) {
			epoch.begin_ns = ops[i].begin_ns;
			r = writer_epoch(beat->writer, &epoch);
		} else {
			r = write_step(beat,
				       &(struct gpu_batch){epoch.loader_id, 0, number++, begin_ns,
							   ops[i].begin_ns, WRITE_UNKNOWN, 0});
		}
		begin_ns = ops[i].begin_ns;
	}
	return r;
}

int beat_find(const struct beat *beat, const struct gpu_op *gpu_ops, size_t gpu_count)
{
	struct rhythm_op *ops = malloc((gpu_count + 1) * sizeof(*ops));
	struct rhythm rhythm;
	size_t count = 0;
	int r;

	if (!ops)
		return -ENOMEM;
	for (size_t i = 0; i < gpu_count; i++)
		count += make_rhythm_op(&gpu_ops[i], &ops[count]);
	r = count ? rhythm_find(ops, count, &rhythm) : -EINVAL;
	if (r == 0 && rhythm.confidence >= RHYTHM_CONFIDENT)
		r = write_steps(beat, &rhythm, ops, count);
	free(ops);
	return r == -EINVAL ? 0 : r;
}
