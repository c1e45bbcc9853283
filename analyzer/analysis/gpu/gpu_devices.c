/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gpu/gpu_devices.h"

#include <errno.h>
#include <stdlib.h>

static bool is_device(const struct gpu_op *op)
{
	return op->device >= 0 && op->device < GPU_DEVICES_MOST;
}

void gpu_devices_note(struct gpu_devices *devices, const struct gpu_op *op)
{
	if (is_device(op) && (GPU_STEP_BUSY >> op->kind & 1))
		devices->working |= 1u << op->device;
}

static uint32_t find_fed(struct gpu_devices *devices, const struct gpu_op *ops, size_t count,
			 int64_t begin_ns, int64_t end_ns)
{
	double most = 0;
	uint32_t fed = 0;

	for (int i = 0; i < GPU_DEVICES_MOST; i++)
		devices->bytes[i] *= GPU_DEVICES_KEEP;
	for (size_t i = 0; i < count; i++)
		if (is_device(&ops[i]) && ops[i].kind == DLPROF_GPU_H2D &&
		    ops[i].begin_ns >= begin_ns && ops[i].begin_ns < end_ns)
			devices->bytes[ops[i].device] += (double)ops[i].bytes;
	for (int i = 0; i < GPU_DEVICES_MOST; i++)
		if (devices->working >> i & 1 && devices->bytes[i] > most)
			most = devices->bytes[i];
	for (int i = 0; i < GPU_DEVICES_MOST; i++)
		if (devices->working >> i & 1 && devices->bytes[i] >= GPU_DEVICES_FED * most)
			fed |= 1u << i;
	return fed;
}

/* Operations of the host. They count for each device, as they may have waited for any. */
#define OF_ALL (GPU_STEP_SYNC | GPU_STEP_BIT(API_COPY))

static size_t copy_ops(const struct gpu_op *ops, size_t count, int16_t device, struct gpu_op *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (ops[i].device == device || (OF_ALL >> ops[i].kind & 1))
			ret[kept++] = ops[i];
	return kept;
}

static int64_t peer_bytes(const struct gpu_op *ops, size_t count, int64_t begin_ns, int64_t end_ns)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		if (ops[i].kind == DLPROF_GPU_COPY && ops[i].begin_ns >= begin_ns &&
		    ops[i].begin_ns < end_ns && ops[i].bytes < INT64_MAX / 4096 &&
		    DLPROF_GPU_WHAT_ID(ops[i].what) & DLPROF_GPU_PEER)
			bytes += (int64_t)ops[i].bytes;
	return bytes;
}

#define MEANS(X)                                                                                   \
	X(busy_ns)                                                                                 \
	X(nccl_ns)                                                                                 \
	X(refill_ns)                                                                               \
	X(compute_ns) X(loading_ns) X(gap_data_ns) X(gap_h2d_ns) X(gap_sync_ns) X(gap_host_ns)

static void add(struct gpu_step *sum, const struct gpu_step *step)
{
#define ADD(member) sum->member += step->member;
	MEANS(ADD)
#undef ADD
}

static void put_mean(const struct gpu_step *sum, int64_t count, int64_t step_ns,
		     struct gpu_step *ret)
{
#define DIVIDE(member) ret->member = sum->member / count;
	MEANS(DIVIDE)
#undef DIVIDE
	ret->gap_other_ns = step_ns - ret->busy_ns - ret->gap_data_ns - ret->gap_h2d_ns -
			    ret->gap_sync_ns - ret->gap_host_ns;
}

int gpu_devices_measure(struct gpu_devices *devices, const struct gpu_op *ops, size_t count,
			int64_t begin_ns, int64_t wait_end_ns, int64_t end_ns, struct gpu_step *ret,
			struct gpu_device_step *steps, size_t *ret_count)
{
	uint32_t fed = find_fed(devices, ops, count, begin_ns, end_ns);
	struct gpu_step one, sum = {0};
	struct gpu_op *own;
	int r = gpu_step_measure(ops, count, begin_ns, wait_end_ns, end_ns, ret);

	*ret_count = 0;
	if (r < 0 || !(devices->working & (devices->working - 1)))
		return r;
	own = malloc((count + 1) * sizeof(*own));
	if (!own)
		return -ENOMEM;
	for (int16_t i = 0; r == 0 && i < GPU_DEVICES_MOST; i++) {
		size_t own_count = devices->working >> i & 1 ? copy_ops(ops, count, i, own) : 0;

		if (!(devices->working >> i & 1))
			continue;
		r = gpu_step_measure(own, own_count, begin_ns, wait_end_ns, end_ns, &one);
		if (r == 0 && fed >> i & 1)
			add(&sum, &one);
		steps[(*ret_count)++] = (struct gpu_device_step){
			.device = i,
			.fed = fed >> i & 1,
			.busy_ns = one.busy_ns,
			.gap_data_ns = one.gap_data_ns,
			.kernel_count = one.kernel_count,
			.graph_count = one.graph_count,
			.h2d_bytes = one.h2d_bytes,
			.peer_bytes = peer_bytes(own, own_count, begin_ns, end_ns),
		};
	}
	free(own);
	if (r == 0)
		put_mean(&sum, __builtin_popcount(fed), end_ns - begin_ns, ret);
	return r;
}
