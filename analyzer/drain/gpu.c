/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu_call.h"
#include "analysis/gpu_devices.h"
#include "drain/gaps.h"
#include "drain/now.h"

#define OPS_MOST ((size_t)1 << 20) /* that are kept: 40 MB */
#define KEEP_NS  10000000000       /* of an epoch's first wait nothing is known until it is over */
#define META_NS  2000000000        /* between two looks at the sums */

struct process {
	struct process *next;
	int32_t pid;
	bool host; /* only calls of libcudart are seen */
	bool with_kernels;
	bool has_batches;  /* of a loader or of marks */
	bool whole_graphs; /* and there were graphs */
	struct gaps gaps;
	int64_t complete_ns;  /* all was sent up to here */
	int64_t forgotten_ns; /* what ended before is no longer kept */
	int64_t newest_ns;    /* batch that was told, its begin */
	int64_t keep_ns;      /* batches to come do not begin before; INT64_MAX: not told */
	struct gpu_devices devices;
	struct gpu_op *ops;
	size_t op_count, op_capacity, sorted_count;
	int64_t longest_ns;        /* operation among them */
	struct gpu_batch *batches; /* that wait, in any order */
	size_t batch_count, batch_capacity;
	struct dlprof_gpu_state sums;
	struct dlprof_gpu_state judged; /* the sums of the last word that all was sent */
};

struct gpu {
	struct writer *writer;
	struct process *processes;
	bool clock_noted;
	int64_t meta_ns;
};

int gpu_open(struct writer *writer, struct gpu **ret_gpu)
{
	struct gpu *gpu = calloc(1, sizeof(*gpu));

	if (!gpu)
		return -ENOMEM;
	gpu->writer = writer;
	*ret_gpu = gpu;
	return 0;
}

void gpu_close(struct gpu *gpu)
{
	struct process *process, *next;

	if (!gpu)
		return;
	for (process = gpu->processes; process; process = next) {
		next = process->next;
		free(process->ops);
		free(process->batches);
		free(process);
	}
	free(gpu);
}

static struct process *find_process(const struct gpu *gpu, int32_t pid)
{
	struct process *process = gpu->processes;

	while (process && process->pid != pid)
		process = process->next;
	return process;
}

static struct process *make_process(struct gpu *gpu, int32_t pid)
{
	struct process *process = find_process(gpu, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	/* Unless it says otherwise itself: what a drain before us took is gone. */
	gaps_init(&process->gaps, (int64_t)now_ns());
	process->keep_ns = INT64_MAX;
	process->next = gpu->processes;
	gpu->processes = process;
	return process;
}

/* Room for one more item of `size` bytes. */
static int make_room(void **items, size_t count, size_t *capacity, size_t size)
{
	size_t more = *capacity ? 2 * *capacity : 256;
	void *grown;

	if (count < *capacity)
		return 0;
	grown = realloc(*items, more * size);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*capacity = more;
	return 0;
}

static int compare_ops(const void *a, const void *b)
{
	const struct gpu_op *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* The newest are in order among themselves, nearly; the others are. */
static int sort_ops(struct process *process)
{
	size_t fresh = process->op_count - process->sorted_count, i = process->sorted_count;
	size_t k = fresh, to = process->op_count;
	struct gpu_op *copy;

	if (!fresh)
		return 0;
	copy = malloc(fresh * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, process->ops + i, fresh * sizeof(*copy));
	qsort(copy, fresh, sizeof(*copy), compare_ops);
	/* From the end: each goes where nothing is that is still to be looked at. */
	while (k)
		process->ops[--to] = i && process->ops[i - 1].begin_ns > copy[k - 1].begin_ns
					     ? process->ops[--i]
					     : copy[--k];
	free(copy);
	process->sorted_count = process->op_count;
	return 0;
}

/* Of sorted operations, forgets those that ended before. */
static void forget(struct process *process, int64_t ns)
{
	size_t kept = 0;

	if (ns <= process->forgotten_ns)
		return;
	process->forgotten_ns = ns;
	process->longest_ns = 0;
	for (size_t i = 0; i < process->op_count; i++) {
		int64_t length_ns = process->ops[i].end_ns - process->ops[i].begin_ns;

		if (process->ops[i].end_ns < ns)
			continue;
		if (length_ns > process->longest_ns)
			process->longest_ns = length_ns;
		process->ops[kept++] = process->ops[i];
	}
	process->op_count = process->sorted_count = kept;
}

static int add_op(struct process *process, const struct dlprof_event *event, bool only,
		  const struct dlprof_gpu_op *op, uint64_t bytes)
{
	uint64_t begin_ns = event->begin_ns + op->offset_ns;
	uint64_t length_ns = only ? event->duration_ns : op->length_ns;
	struct gpu_op *added;
	int r;

	/* Of a damaged ring they may be anything. */
	if (begin_ns > INT64_MAX / 4 || length_ns > INT64_MAX / 4)
		return 0;
	if (process->op_count >= OPS_MOST) {
		r = sort_ops(process);
		if (r < 0)
			return r;
		forget(process, process->ops[process->op_count / 2].begin_ns);
	}
	r = make_room((void **)&process->ops, process->op_count, &process->op_capacity,
		      sizeof(*process->ops));
	if (r < 0)
		return r;
	added = &process->ops[process->op_count++];
	*added = (struct gpu_op){
		.begin_ns = (int64_t)begin_ns,
		.end_ns = (int64_t)(begin_ns + length_ns),
		.bytes = bytes,
		.what = op->what,
		.device = (int16_t)event->worker,
		.kind = DLPROF_GPU_WHAT_KIND(op->what),
	};
	gpu_devices_note(&process->devices, added);
	if ((int64_t)length_ns > process->longest_ns)
		process->longest_ns = (int64_t)length_ns;
	process->whole_graphs |=
		added->kind == DLPROF_GPU_GRAPH && (process->sums.flags & DLPROF_GPU_WHOLE_GRAPHS);
	return 0;
}

static int take_ops(struct process *process, const struct dlprof_event *event)
{
	const struct dlprof_gpu_ops *ops = &event->gpu_ops;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < ops->count && i < DLPROF_GPU_OP_COUNT; i++)
		r = add_op(process, event, ops->count == 1, &ops->ops[i], 0);
	return r;
}

static int take_copies(struct process *process, const struct dlprof_event *event)
{
	const struct dlprof_gpu_copies *copies = &event->gpu_copies;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < copies->count && i < DLPROF_GPU_COPY_COUNT; i++) {
		const struct dlprof_gpu_copy *copy = &copies->copies[i];

		r = add_op(process, event, copies->count == 1, &copy->op,
			   (uint64_t)copy->bytes_high << 32 | copy->bytes_low);
	}
	return r;
}

static int write_gap(struct gpu *gpu, const struct process *process, const struct gap *gap,
		     const char *why)
{
	return writer_gap(gpu->writer, process->pid, gap->begin_ns,
			  gap->end_ns == GAPS_OPEN ? WRITE_UNKNOWN : gap->end_ns, why);
}

static int take_complete(struct gpu *gpu, struct process *process, int64_t when_ns)
{
	const char *why;
	struct gap gap;
	bool changed;

	process->complete_ns = when_ns;
	changed = gaps_judge(&process->gaps, when_ns, &process->judged, &process->sums, &gap, &why);
	process->judged = process->sums;
	return changed ? write_gap(gpu, process, &gap, why) : 0;
}

static int take_state(struct gpu *gpu, struct process *process, const struct dlprof_event *event)
{
	const struct dlprof_gpu_state *state = &event->gpu_state;
	int64_t when_ns = (int64_t)(event->begin_ns & INT64_MAX);
	struct gap gap = {when_ns, GAPS_OPEN};
	char why[sizeof(state->why) + 1];

	if (state->state == DLPROF_GPU_HOST)
		process->host = true;
	if (state->state == DLPROF_GPU_HOST || state->state > DLPROF_GPU_GAP_END)
		return 0;
	process->sums = *state;
	process->with_kernels = state->flags & DLPROF_GPU_WITH_KERNELS;
	snprintf(why, sizeof(why), "%.*s", (int)sizeof(state->why), state->why);
	switch (state->state) {
	case DLPROF_GPU_ATTACHED:
		process->gaps.known_ns = process->gaps.window_ns = when_ns;
		return 0;
	case DLPROF_GPU_COMPLETE:
		return take_complete(gpu, process, when_ns);
	case DLPROF_GPU_GAP_BEGIN:
		if (!gaps_begin(&process->gaps, GAPS_TOLD, when_ns))
			return 0;
		return write_gap(gpu, process, &gap, why);
	default:
		if (!gaps_end(&process->gaps, GAPS_TOLD, when_ns, &gap))
			return 0;
		return write_gap(gpu, process, &gap, NULL);
	}
}

int gpu_take(struct gpu *gpu, const struct segment *segment, const struct dlprof_event *event)
{
	struct process *process = make_process(gpu, segment->header->pid);

	if (!process)
		return -ENOMEM;
	switch (event->kind) {
	case DLPROF_EVENT_GPU_OPS:
		return take_ops(process, event);
	case DLPROF_EVENT_GPU_COPIES:
		return take_copies(process, event);
	default:
		return take_state(gpu, process, event);
	}
}

int gpu_batch(struct gpu *gpu, int32_t pid, const struct gpu_batch *batch)
{
	struct process *process = find_process(gpu, pid);
	int r;

	if (!process || batch->end_ns < batch->begin_ns || batch->begin_ns < 0)
		return 0;
	process->has_batches = true;
	if (batch->begin_ns > process->newest_ns)
		process->newest_ns = batch->begin_ns;
	r = make_room((void **)&process->batches, process->batch_count, &process->batch_capacity,
		      sizeof(*process->batches));
	if (r == 0)
		process->batches[process->batch_count++] = *batch;
	return r;
}

void gpu_keep_from(struct gpu *gpu, int32_t pid, int64_t begin_ns)
{
	struct process *process = find_process(gpu, pid);

	if (process && begin_ns < process->keep_ns)
		process->keep_ns = begin_ns;
}

static bool is_known(const struct process *process, const struct gpu_batch *batch)
{
	if (process->host)
		return true;
	return batch->begin_ns >= process->forgotten_ns && batch->end_ns <= process->complete_ns &&
	       gaps_spare(&process->gaps, batch->begin_ns, batch->end_ns);
}

/* The first operation that begins at or after. */
static size_t find_op(const struct process *process, int64_t ns)
{
	size_t low = 0, high = process->op_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (process->ops[middle].begin_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void fill(const struct process *process, const struct gpu_batch *batch,
		 const struct gpu_step *step, struct gpu_values *values)
{
	values->kernel_count = step->kernel_count;
	values->graph_count = step->graph_count;
	if (!step->anywhere_bytes) {
		values->h2d_bytes = step->h2d_bytes;
		values->d2h_bytes = step->d2h_bytes;
	}
	values->sync_event_ns = step->sync_event_ns;
	values->sync_stream_ns = step->sync_stream_ns;
	values->sync_context_ns = step->sync_context_ns;
	if (process->host)
		return;
	values->h2d_ns = step->h2d_ns;
	values->d2h_ns = step->d2h_ns;
	values->memset_ns = step->memset_ns;
	values->h2d_pageable_bytes = step->h2d_pageable_bytes;
	if (!process->with_kernels) {
		values->kernel_count = WRITE_UNKNOWN;
		return;
	}
	values->nccl_ns = step->nccl_ns;
	values->gpu_busy_ns = step->busy_ns;
	/* Nobody saw the wait: it may be in any of the gaps. */
	if (batch->wait_ns == WRITE_UNKNOWN)
		return;
	values->gpu_idle_wait_ns = step->gap_data_ns;
	values->gap_data_ns = step->gap_data_ns;
	values->gap_h2d_ns = step->gap_h2d_ns;
	values->gap_sync_ns = step->gap_sync_ns;
	values->gap_host_ns = step->gap_host_ns;
	values->gap_other_ns = step->gap_other_ns;
}

static int write_calls(struct gpu *gpu, const struct gpu_batch *batch, const struct gpu_op *ops,
		       size_t count)
{
	struct gpu_call_values values = {batch->loader_id, batch->epoch, batch->task};
	struct gpu_calls calls;

	gpu_calls_measure(ops, count, batch->begin_ns, batch->end_ns, batch->tid, &calls);
	values.sync_ns = calls.training.sync_ns;
	values.copy_ns = calls.training.copy_ns;
	values.launch_ns = calls.training.launch_ns;
	values.launch_count = calls.training.launch_count;
	values.other_sync_ns = calls.others.sync_ns;
	values.other_copy_ns = calls.others.copy_ns;
	values.other_launch_ns = calls.others.launch_ns;
	values.other_launch_count = calls.others.launch_count;
#define X(name)                                                                                    \
	if (!batch->tid)                                                                           \
		values.name = WRITE_UNKNOWN;
	GPU_CALL_TRAINING(X)
#undef X
	return writer_gpu_call(gpu->writer, &values);
}

static int write_devices(struct gpu *gpu, const struct process *process,
			 const struct gpu_batch *batch, const struct gpu_device_step *steps,
			 size_t count)
{
	bool waited = batch->wait_ns != WRITE_UNKNOWN;
	int r = 0;

	for (size_t i = 0; r == 0 && process->with_kernels && i < count; i++)
		r = writer_gpu_device(
			gpu->writer,
			&(struct gpu_device_row){
				.loader_id = batch->loader_id,
				.epoch = batch->epoch,
				.task = batch->task,
				.device = steps[i].device,
				.fed = steps[i].fed,
				.busy_ns = steps[i].busy_ns,
				.idle_wait_ns = waited ? steps[i].gap_data_ns : WRITE_UNKNOWN,
				.kernel_count = steps[i].kernel_count,
				.graph_count = steps[i].graph_count,
				.h2d_bytes = steps[i].h2d_bytes,
				.peer_bytes = steps[i].peer_bytes,
			});
	return r;
}

static int write_batch(struct gpu *gpu, struct process *process, const struct gpu_batch *batch)
{
	struct gpu_device_step steps[GPU_DEVICES_MOST];
	size_t first = find_op(process, batch->begin_ns - process->longest_ns);
	size_t end = find_op(process, batch->end_ns);
	/* Before the first operation there is no array to be `first` in. */
	const struct gpu_op *ops = process->ops ? process->ops + first : NULL;
	int64_t wait_ns = batch->wait_ns == WRITE_UNKNOWN ? 0 : batch->wait_ns;
	struct gpu_values values;
	struct gpu_step step;
	size_t device_count;
	int r;

	r = gpu_devices_measure(&process->devices, ops, end - first, batch->begin_ns,
				batch->begin_ns + wait_ns, batch->end_ns, &step, steps,
				&device_count);
	if (r == 0)
		r = write_devices(gpu, process, batch, steps, device_count);
	if (r < 0)
		return r;
	gpu_values_init(&values);
	values.loader_id = batch->loader_id;
	values.epoch = batch->epoch;
	values.task = batch->task;
	fill(process, batch, &step, &values);
	if (values.gpu_busy_ns != WRITE_UNKNOWN && !gpu->clock_noted) {
		gpu->clock_noted = true;
		r = writer_meta(gpu->writer, META_CLOCK, "gpu");
	}
	if (r == 0)
		r = writer_gpu_step(gpu->writer, &values);
	if (r == 0 && (process->sums.flags & DLPROF_GPU_WITH_CALLS))
		r = write_calls(gpu, batch, ops, end - first);
	return r;
}

/* A thread of the host, as that of a backward pass, tells of its last launches with its next. */
static bool is_awaited(const struct process *process, const struct gpu_batch *batch)
{
	if (process->host)
		return batch->end_ns > process->newest_ns;
	return batch->end_ns > process->complete_ns ||
	       gaps_may_spare(&process->gaps, batch->end_ns);
}

static int settle(struct gpu *gpu, struct process *process, bool finishing)
{
	int64_t keep_ns = (process->host ? (int64_t)now_ns() : process->complete_ns) - KEEP_NS;
	size_t kept = 0;
	int r = sort_ops(process);

	for (size_t i = 0; r == 0 && i < process->batch_count; i++) {
		const struct gpu_batch *batch = &process->batches[i];

		if (!finishing && is_awaited(process, batch)) {
			if (batch->begin_ns < keep_ns)
				keep_ns = batch->begin_ns;
			process->batches[kept++] = *batch;
		} else if (is_known(process, batch)) {
			r = write_batch(gpu, process, batch);
		}
	}
	process->batch_count = kept;
	if (process->keep_ns < keep_ns)
		keep_ns = process->keep_ns;
	process->keep_ns = INT64_MAX;
	/* Not every time for the sake of a few. */
	if (process->op_count > 4096 && process->has_batches)
		forget(process, keep_ns);
	return r;
}

/* A number of a damaged segment must not make a sum overflow. */
static uint64_t sane(uint64_t value)
{
	return value > INT64_MAX >> 12 ? INT64_MAX >> 12 : value;
}

/* Of all processes together. */
static int write_meta(struct gpu *gpu)
{
	uint64_t record_count = 0, bad_count = 0, dropped_count = 0, own_drop_count = 0;
	uint64_t overhead_ns = 0;
	bool bound = false, seen = false;
	int r = 0;

	for (const struct process *process = gpu->processes; process; process = process->next) {
		seen |= !process->host;
		bound |= process->whole_graphs;
		record_count += sane(process->sums.record_count);
		bad_count += sane(process->sums.bad_count);
		dropped_count += sane(process->sums.dropped_count);
		own_drop_count += sane(process->sums.own_drop_count);
		overhead_ns += sane(process->sums.overhead_ns);
	}
	const struct {
		enum meta key;
		int64_t number;
	} rows[] = {
		{META_CUDA_RECORDS, (int64_t)record_count},
		{META_CUDA_BAD_TS, (int64_t)bad_count},
		{META_CUDA_DROPPED, (int64_t)dropped_count},
		{META_CUDA_OWN_DROP, (int64_t)own_drop_count},
		{META_CUDA_OVERHEAD_NS, (int64_t)overhead_ns},
		{META_GPU_BUSY_IS_UPPER_BOUND, bound},
	};

	for (size_t i = 0; seen && r == 0 && i < sizeof(rows) / sizeof(rows[0]); i++)
		r = writer_meta_number(gpu->writer, rows[i].key, rows[i].number);
	for (const struct process *process = gpu->processes; r == 0 && process;
	     process = process->next) {
		uint64_t lost =
			sane(process->sums.dropped_count) + sane(process->sums.own_drop_count);

		if (lost)
			r = writer_loss(gpu->writer, process->pid, "GPU records", (int64_t)lost);
	}
	if (r == 0 && bad_count * 100 > record_count)
		r = writer_note(gpu->writer, "warning",
				"more than 1 % of CUPTI's records have times that cannot be: they "
				"were left out, and the GPU was busier than the numbers say");
	return r;
}

int gpu_round(struct gpu *gpu, bool finishing)
{
	int r = 0;

	if (!gpu->processes)
		return 0;
	for (struct process *process = gpu->processes; r == 0 && process; process = process->next)
		r = settle(gpu, process, finishing);
	if (r == 0 && (finishing || (int64_t)now_ns() - gpu->meta_ns > META_NS)) {
		gpu->meta_ns = (int64_t)now_ns();
		r = write_meta(gpu);
	}
	return r;
}
