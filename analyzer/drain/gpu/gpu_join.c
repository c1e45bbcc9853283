/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/gpu/gpu_join.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu/gpu_devices.h"
#include "analysis/statistics/array.h"
#include "dlprof/event.h"
#include "dlprof/units.h"
#include "drain/base/now.h"
#include "drain/gpu/gaps.h"
#include "drain/gpu/gpu_rows.h"
#include "store/write/write.h"

/*
 * A kernel's name, made of the parts received so far; all zero at first. The drain demangles names,
 * because the report must not: a stranger's database could have a name that expands without end.
 */
struct kernel_name {
	uint64_t id;
	uint32_t parts;
	char symbol[DLPROF_KERNEL_BYTES + 1];
};

/* Returns the demangled name, or NULL. The C++ library is loaded here, since few runs need it. */
static char *demangle(const char *symbol)
{
	static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};
	static char *(*function)(const char *, char *, size_t *, int *);
	static bool is_looked_for;

	for (size_t i = 0; !is_looked_for && i < sizeof(libraries) / sizeof(*libraries); i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
		void *found = library ? dlsym(library, "__cxa_demangle") : NULL;

		memcpy(&function, &found, sizeof(found));
		if (function)
			break;
	}
	is_looked_for = true;
	/* Only names with _Z are mangled; __cxa_demangle() would take "f" for the type float. */
	return function && strncmp(symbol, "_Z", 2) == 0 ? function(symbol, NULL, NULL, NULL)
							 : NULL;
}

/* Takes a part of a name. The last part writes the whole name. */
static int kernel_name_take(struct writer *writer, struct kernel_name *name,
			    const struct dlprof_event *event)
{
	size_t at = (size_t)event->task * sizeof(event->mark);
	size_t part = strnlen(event->mark, sizeof(event->mark));
	char *readable;
	int r;

	if (event->task == 0)
		*name = (struct kernel_name){.id = event->stream};
	/* A name that lacks parts is dropped: a damaged ring, or an earlier drain took them. */
	if (name->id != event->stream || name->parts != event->task ||
	    at + part >= sizeof(name->symbol) || name->id > INT64_MAX)
		return 0;
	memcpy(name->symbol + at, event->mark, part);
	name->symbol[at + part] = '\0';
	name->parts++;
	if (part == sizeof(event->mark))
		return 0;
	readable = demangle(name->symbol);
	r = writer_kernel(writer, (int64_t)name->id, name->symbol,
			  readable ? readable : name->symbol);
	free(readable);
	return r;
}

/* how long operations stay in memory: the record of their step is read later */
#define KEEP_NS 10000000000
#define META_NS 2000000000
/* after this many copies and waits without a kernel, CUPTI is taken to report no kernel */
#define MANY_OTHERS 100
/* masked waits below this share of all steps' time are not reported */
#define MASKED_LEAST 0.05

#define NOT_LATE ((struct gap){INT64_MAX, 0})

struct gpu_process {
	struct gpu_process *next;
	struct life life;
	struct gpu_rows what;
	uint64_t memset_count, peer_bytes; /* of the host's calls, without CUPTI */
	bool has_batches;  /* the process takes batches from a loader, or marks them */
	bool whole_graphs; /* CUPTI records a CUDA graph as one operation */
	bool any_kernel;
	size_t other_count;
	int64_t bare_ns;   /* end of the last kernel in a settled step; 0: none yet */
	size_t bare_count; /* number of operations in later steps */
	struct gaps gaps;
	int64_t complete_ns; /* the process has sent all operations from before this time */
	int64_t newest_ns;
	int64_t keep_ns; /* no later batch begins before this; INT64_MAX: unknown */
	struct gap late; /* time of operations sent after complete_ns had passed them */
	struct gpu_seen seen;
	struct kernel_name name;
	struct gpu_ops ops;
	struct gpu_batch *batches; /* batches to be written or, after late operations, rewritten */
	size_t batch_count;
	struct dlprof_gpu_state sums;
	struct dlprof_gpu_state judged; /* copy of `sums` at the last gaps_judge() */
};

void gpu_join_done(struct gpu_join *gpu)
{
	for (struct gpu_process *process = gpu->processes, *next; process; process = next) {
		next = process->next;
		free(process->ops.items);
		free(process->batches);
		free(process);
	}
}

static struct gpu_process *find_process(const struct gpu_join *gpu, const struct life *life)
{
	struct gpu_process *process = gpu->processes;

	while (process && !life_is(&process->life, life))
		process = process->next;
	return process;
}

static struct gpu_process *make_process(struct gpu_join *gpu, const struct life *life)
{
	struct gpu_process *process = find_process(gpu, life);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->life = *life;
	/* Operations until now are unknown: an earlier drain may have taken their records. */
	gaps_init(&process->gaps, (int64_t)now_ns());
	process->keep_ns = INT64_MAX;
	process->late = NOT_LATE;
	process->next = gpu->processes;
	gpu->processes = process;
	return process;
}

/* Notes an operation that was sent late: it ran before complete_ns (shim/cuda/coverage.h). */
static void note_late(struct gpu_process *process, const struct gpu_op *op)
{
	struct gap *late = &process->late;
	const int64_t end_ns =
		op->end_ns < process->complete_ns ? op->end_ns : process->complete_ns;

	if (op->device < 0 || op->begin_ns >= process->complete_ns)
		return;
	if (op->begin_ns < late->begin_ns)
		late->begin_ns = op->begin_ns;
	if (end_ns > late->end_ns)
		late->end_ns = end_ns;
}

static int add_op(struct gpu_process *process, const struct dlprof_event *event, bool only,
		  const struct dlprof_gpu_op *op, uint64_t bytes)
{
	uint64_t begin_ns = event->begin_ns + op->offset_ns;
	uint64_t length_ns = only ? event->duration_ns : op->length_ns;
	struct gpu_op added;

	/* A damaged ring may have impossible times. */
	if (begin_ns > INT64_MAX / 4 || length_ns > INT64_MAX / 4)
		return 0;
	added = (struct gpu_op){
		.begin_ns = (int64_t)begin_ns,
		.end_ns = (int64_t)(begin_ns + length_ns),
		.bytes = bytes,
		.what = op->what,
		.device = (int16_t)event->worker,
		.kind = DLPROF_GPU_WHAT_KIND(op->what),
	};
	/* A launch is recorded after its kernel ran: too late if its step is measured by then. */
	if (added.kind == DLPROF_GPU_LAUNCH && added.device >= 0 &&
	    (added.begin_ns < process->complete_ns - KEEP_NS / 2 ||
	     added.begin_ns < process->ops.forgotten_ns))
		return 0;
	gpu_devices_note(&process->seen.devices, &added);
	gpu_streams_note(&process->seen.streams, &added);
	note_late(process, &added);
	process->whole_graphs |=
		added.kind == DLPROF_GPU_GRAPH && (process->sums.flags & DLPROF_GPU_WHOLE_GRAPHS);
	process->any_kernel |= added.kind == DLPROF_GPU_KERNEL || added.kind == DLPROF_GPU_GRAPH;
	process->other_count += !process->any_kernel;
	return gpu_ops_add(&process->ops, &added);
}

static int take_ops(struct gpu_process *process, const struct dlprof_event *event)
{
	const struct dlprof_gpu_ops *ops = &event->gpu_ops;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < ops->count && i < DLPROF_GPU_OP_COUNT; i++)
		r = add_op(process, event, ops->count == 1, &ops->ops[i], 0);
	return r;
}

static int take_copies(struct gpu_process *process, const struct dlprof_event *event)
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

static int write_gap(struct gpu_join *gpu, const struct gpu_process *process, const struct gap *gap,
		     const char *why)
{
	return writer_gap(gpu->writer, process->life.pid, gap->begin_ns,
			  gap->end_ns == GAPS_OPEN ? UNKNOWN : gap->end_ns, why);
}

static int take_complete(struct gpu_join *gpu, struct gpu_process *process, int64_t when_ns)
{
	const char *why;
	struct gap gap;
	bool changed;

	process->complete_ns = when_ns;
	changed = gaps_judge(&process->gaps, when_ns, &process->judged, &process->sums, &gap, &why);
	process->judged = process->sums;
	return changed ? write_gap(gpu, process, &gap, why) : 0;
}

static int take_state(struct gpu_join *gpu, struct gpu_process *process,
		      const struct dlprof_event *event)
{
	const struct dlprof_gpu_state *state = &event->gpu_state;
	int64_t when_ns = (int64_t)(event->begin_ns & INT64_MAX);
	struct gap gap = {when_ns, GAPS_OPEN};
	char why[sizeof(state->why) + 1];

	if (state->state == DLPROF_GPU_HOST) {
		process->what.host = true;
		process->memset_count = state->memset_count & INT64_MAX >> 12;
		process->peer_bytes = state->peer_bytes & INT64_MAX >> 12;
	}
	if (state->state == DLPROF_GPU_HOST || state->state > DLPROF_GPU_GAP_END)
		return 0;
	process->sums = *state;
	process->what.with_kernels = state->flags & DLPROF_GPU_WITH_KERNELS;
	process->what.with_calls = state->flags & DLPROF_GPU_WITH_CALLS;
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

int gpu_join_take(struct gpu_join *gpu, const struct segment *segment,
		  const struct dlprof_event *event)
{
	const struct life life = segment_life(segment);
	struct gpu_process *process = make_process(gpu, &life);

	if (!process)
		return -ENOMEM;
	switch (event->kind) {
	case DLPROF_EVENT_GPU_OPS:
		return take_ops(process, event);
	case DLPROF_EVENT_GPU_COPIES:
		return take_copies(process, event);
	case DLPROF_EVENT_KERNEL:
		return kernel_name_take(gpu->writer, &process->name, event);
	default:
		return take_state(gpu, process, event);
	}
}

int gpu_join_batch(struct gpu_join *gpu, const struct life *life, const struct gpu_batch *batch)
{
	struct gpu_process *process = find_process(gpu, life);

	if (!process || batch->end_ns < batch->begin_ns || batch->begin_ns < 0)
		return 0;
	process->has_batches = true;
	if (batch->begin_ns > process->newest_ns)
		process->newest_ns = batch->begin_ns;
	if (!ARRAY_GROW(process->batches, process->batch_count))
		return -ENOMEM;
	process->batches[process->batch_count++] = *batch;
	return 0;
}

void gpu_join_keep_from(struct gpu_join *gpu, const struct life *life, int64_t begin_ns)
{
	struct gpu_process *process = find_process(gpu, life);

	if (process && begin_ns < process->keep_ns)
		process->keep_ns = begin_ns;
}

/* Returns false if operations of the step are unknown, such as when another tool uses CUPTI. */
static bool is_known(const struct gpu_process *process, const struct gpu_batch *batch)
{
	if (process->what.host)
		return true;
	return batch->begin_ns >= process->ops.forgotten_ns &&
	       batch->end_ns <= process->complete_ns &&
	       gaps_spare(&process->gaps, batch->begin_ns, batch->end_ns) &&
	       gpu_ops_has(&process->ops, batch->begin_ns, batch->end_ns);
}

static int write_batch(struct gpu_join *gpu, struct gpu_process *process, struct gpu_batch *batch)
{
	struct gpu_said said = {false, false};
	struct gpu_rows what = process->what;
	int r;

	/* If only copies are reported, no kernels, the GPU's busy time is unknown. */
	what.with_kernels &= process->any_kernel;
	r = gpu_rows_write(gpu->writer, &what, &process->ops, &process->seen, batch, &said);
	batch->written = true;
	if (r == 0 && said.is_doubtful && !gpu->doubt_noted) {
		gpu->doubt_noted = true;
		r = writer_note(gpu->writer, "warning",
				"a GPU loader shares a stream with the training, so GPU idle time "
				"is unknown there, and the host's clock is used");
	}
	if (r < 0 || !said.busy || gpu->clock_noted)
		return r;
	gpu->clock_noted = true;
	return writer_meta(gpu->writer, META_CLOCK, "gpu");
}

/* Returns true if operations of the step may still come, which takes up to seconds. */
static bool is_awaited(const struct gpu_process *process, const struct gpu_batch *batch)
{
	if (process->what.host)
		return batch->end_ns > process->newest_ns;
	return batch->begin_ns >= process->ops.forgotten_ns &&
	       (batch->end_ns > process->complete_ns ||
		gaps_may_spare(&process->gaps, batch->end_ns));
}

/* Lets steps with late operations be written again. Before `kept_ns`, a gap is written instead. */
static int mend_late(struct gpu_join *gpu, struct gpu_process *process, int64_t kept_ns)
{
	struct gap late = process->late;
	bool any = false;
	int r;

	process->late = NOT_LATE;
	for (size_t i = 0; i < process->batch_count; i++)
		if (process->batches[i].begin_ns < late.end_ns &&
		    process->batches[i].end_ns > late.begin_ns)
			process->batches[i].written = false;
	if (late.end_ns > kept_ns)
		late.end_ns = kept_ns;
	if (late.begin_ns >= late.end_ns)
		return 0;
	r = writer_no_gpu(gpu->writer, process->life.pid, late.begin_ns, late.end_ns, &any);
	return r < 0 || !any ? r : write_gap(gpu, process, &late, "CUPTI's records came too late");
}

/* Returns the end of the last kernel that ran in a step, or 0, and the number of operations. */
static int64_t find_last_kernel(const struct gpu_ops *ops, const struct gpu_batch *batch,
				size_t *ret_count)
{
	const struct gpu_op *op = gpu_ops_find(ops, batch->begin_ns, batch->end_ns, ret_count);
	int64_t end_ns = 0;

	for (size_t i = 0; i < *ret_count; i++)
		if (op[i].end_ns > batch->begin_ns && op[i].end_ns > end_ns &&
		    (GPU_STEP_BUSY | GPU_STEP_BIT(LOADER)) & 1u << op[i].kind)
			end_ns = op[i].end_ns;
	return end_ns;
}

/*
 * Begins a gap if steps since the last kernel have many copies and waits, and ends it with the next
 * step that has a kernel. A user of CUPTI whom the shim has not noticed may have disabled records
 * of kernels, and then the GPU would seem idle.
 */
static int look_for_kernels(struct gpu_join *gpu, struct gpu_process *process,
			    const struct gpu_batch *batch)
{
	struct gap gap = {process->bare_ns, GAPS_OPEN};
	int64_t kernel_ns;
	size_t count;
	bool any;
	int r;

	if (process->what.host || !process->what.with_kernels || !process->any_kernel ||
	    batch->end_ns <= process->bare_ns)
		return 0;
	/* In another gap, kernels are missing for that gap's reason. */
	if (process->gaps.open_ns[GAPS_BARE] == GAPS_OPEN && !is_known(process, batch))
		return 0;
	kernel_ns = find_last_kernel(&process->ops, batch, &count);
	if (kernel_ns) {
		process->bare_ns = kernel_ns;
		process->bare_count = 0;
		return gaps_end(&process->gaps, GAPS_BARE, batch->end_ns, &gap)
			       ? write_gap(gpu, process, &gap, NULL)
			       : 0;
	}
	process->bare_count += count;
	if (process->bare_count < MANY_OTHERS || !process->bare_ns ||
	    !gaps_begin(&process->gaps, GAPS_BARE, process->bare_ns))
		return 0;
	r = writer_no_gpu(gpu->writer, process->life.pid, gap.begin_ns, batch->end_ns, &any);
	return r < 0 ? r : write_gap(gpu, process, &gap, "CUPTI reports no kernel");
}

static int settle_batch(struct gpu_join *gpu, struct gpu_process *process, struct gpu_batch *batch,
			int64_t kept_ns, bool *ret_kept)
{
	int r = batch->written ? 0 : look_for_kernels(gpu, process, batch);

	if (r == 0 && !batch->written && is_known(process, batch))
		r = write_batch(gpu, process, batch);
	*ret_kept = batch->written && batch->begin_ns >= kept_ns && !process->what.host;
	return r;
}

static int settle(struct gpu_join *gpu, struct gpu_process *process, bool finishing)
{
	int64_t keep_ns = (process->what.host ? (int64_t)now_ns() : process->complete_ns) - KEEP_NS;
	const int64_t kept_ns =
		keep_ns > process->ops.forgotten_ns ? keep_ns : process->ops.forgotten_ns;
	size_t kept = 0;
	int r = gpu_ops_sort(&process->ops);

	if (r == 0)
		r = mend_late(gpu, process, kept_ns);
	for (size_t i = 0; r == 0 && i < process->batch_count; i++) {
		struct gpu_batch *batch = &process->batches[i];
		bool stays = !finishing && is_awaited(process, batch);

		if (stays && batch->begin_ns < keep_ns)
			keep_ns = batch->begin_ns;
		else if (!stays)
			r = settle_batch(gpu, process, batch, kept_ns, &stays);
		if (stays)
			process->batches[kept++] = *batch;
	}
	process->batch_count = kept;
	if (process->keep_ns < keep_ns)
		keep_ns = process->keep_ns;
	process->keep_ns = INT64_MAX;
	/* Forgetting costs a pass over all operations, so it waits until there are many. */
	if (process->ops.count > 4096 && process->has_batches)
		gpu_ops_forget(&process->ops, keep_ns);
	return r;
}

static const struct count {
	enum meta key;
	size_t offset;
} counts[] = {
	{META_CUDA_RECORDS, offsetof(struct dlprof_gpu_state, record_count)},
	{META_CUDA_BAD_TS, offsetof(struct dlprof_gpu_state, bad_count)},
	{META_CUDA_DROPPED, offsetof(struct dlprof_gpu_state, dropped_count)},
	{META_CUDA_OWN_DROP, offsetof(struct dlprof_gpu_state, own_drop_count)},
	{META_CUDA_OVERHEAD_NS, offsetof(struct dlprof_gpu_state, overhead_ns)},
};

/* Returns a sum of the segment, limited: in a damaged segment it might overflow. */
static int64_t sum_of(const struct gpu_process *process, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *)&process->sums + offset, sizeof(value));
	return (int64_t)(value > INT64_MAX >> 12 ? INT64_MAX >> 12 : value);
}

static int64_t sum_of_all(const struct gpu_join *gpu, size_t offset)
{
	int64_t sum = 0;

	for (const struct gpu_process *process = gpu->processes; process; process = process->next)
		sum += sum_of(process, offset);
	return sum;
}

static int64_t lost_by(const struct gpu_join *gpu, int32_t pid)
{
	int64_t lost = 0;

	for (const struct gpu_process *process = gpu->processes; process; process = process->next)
		if (process->life.pid == pid)
			lost += sum_of(process, offsetof(struct dlprof_gpu_state, dropped_count)) +
				sum_of(process, offsetof(struct dlprof_gpu_state, own_drop_count));
	return lost;
}

static int write_losses(struct gpu_join *gpu)
{
	int r = 0;

	for (const struct gpu_process *process = gpu->processes; r == 0 && process;
	     process = process->next) {
		int64_t lost = lost_by(gpu, process->life.pid);

		if (lost)
			r = writer_loss(gpu->writer, process->life.pid, "GPU records", lost);
	}
	return r;
}

static int note_no_kernels(struct gpu_join *gpu)
{
	for (const struct gpu_process *process = gpu->processes; process; process = process->next)
		if (process->what.with_kernels && !process->any_kernel &&
		    process->other_count >= MANY_OTHERS)
			return writer_note(gpu->writer, "warning",
					   "CUPTI reported copies and waits of the GPU, but no "
					   "kernel: how busy it was is not known, and the host's "
					   "clock counts");
	return 0;
}

static int note_masked(struct gpu_join *gpu)
{
	int r = 0;

	for (struct gpu_process *process = gpu->processes; r == 0 && process;
	     process = process->next) {
		const struct gpu_streams *streams = &process->seen.streams;
		const double share = streams->masked_ns / (streams->wait_ns + streams->rest_ns);
		char text[400];

		if (!(share >= MASKED_LEAST))
			continue;
		snprintf(text, sizeof(text),
			 "in %.0f %% of the steps' time the training waited for a batch while only "
			 "other streams of its process ran kernels, which count as busy: if these "
			 "are not the training's, but a loader's or an evaluation's in another "
			 "thread, the training idles that much more than the GPU's clock says. "
			 "Only the CUPTI of CUDA 13 tells who launched a kernel",
			 share * 100);
		r = writer_note(gpu->writer, "warning", text);
	}
	return r;
}

static int write_meta(struct gpu_join *gpu)
{
	bool bound = false, seen = false;
	uint64_t memsets = 0, peer_bytes = 0;
	int r = 0;

	for (const struct gpu_process *process = gpu->processes; process; process = process->next) {
		memsets += process->memset_count;
		peer_bytes += process->peer_bytes;
		seen |= !process->what.host;
		bound |= process->whole_graphs;
	}
	for (size_t i = 0; seen && r == 0 && i < ARRAY_COUNT(counts); i++)
		r = writer_meta_number(gpu->writer, counts[i].key,
				       sum_of_all(gpu, counts[i].offset));
	if (seen && r == 0)
		r = writer_meta_number(gpu->writer, META_GPU_BUSY_IS_UPPER_BOUND, bound);
	if (r == 0 && memsets)
		r = writer_meta_number(gpu->writer, META_CUDA_MEMSETS, (int64_t)memsets);
	if (r == 0 && peer_bytes)
		r = writer_meta_number(gpu->writer, META_CUDA_PEER_BYTES, (int64_t)peer_bytes);
	if (r == 0)
		r = write_losses(gpu);
	if (r == 0 && sum_of_all(gpu, offsetof(struct dlprof_gpu_state, bad_count)) * 100 >
			      sum_of_all(gpu, offsetof(struct dlprof_gpu_state, record_count)))
		r = writer_note(gpu->writer, "warning",
				"more than 1 % of CUPTI's records have times that cannot be: they "
				"were left out, and the GPU was busier than the numbers say");
	return r;
}

int gpu_join_round(struct gpu_join *gpu, bool finishing)
{
	int r = 0;

	if (!gpu->processes)
		return 0;
	for (struct gpu_process *process = gpu->processes; r == 0 && process;
	     process = process->next)
		r = settle(gpu, process, finishing);
	if (r == 0 && (finishing || (int64_t)now_ns() - gpu->meta_ns > META_NS)) {
		gpu->meta_ns = (int64_t)now_ns();
		r = write_meta(gpu);
	}
	if (r == 0 && finishing)
		r = note_no_kernels(gpu);
	if (r == 0 && finishing)
		r = note_masked(gpu);
	return r;
}
