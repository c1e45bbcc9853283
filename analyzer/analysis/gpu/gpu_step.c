/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gpu/gpu_step.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/statistics/array.h"
#include "dlprof/units.h"

#define BIT    GPU_STEP_BIT
#define BUSY   GPU_STEP_BUSY
#define SYNC   GPU_STEP_SYNC
#define OTHERS (BIT(D2H) | BIT(COPY) | BIT(MEMSET) | BIT(LOADER))

struct part {
	int64_t begin_ns, end_ns;
};

struct parts {
	struct part *at;
	size_t count;
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void add(struct parts *parts, int64_t begin_ns, int64_t end_ns)
{
	struct part *last = parts->count ? &parts->at[parts->count - 1] : NULL;

	if (end_ns <= begin_ns)
		return;
	if (last && begin_ns <= last->end_ns)
		last->end_ns = most(last->end_ns, end_ns);
	else
		parts->at[parts->count++] = (struct part){begin_ns, end_ns};
}

static void unite(const struct gpu_op *ops, size_t count, uint32_t kinds, struct parts *parts)
{
	parts->count = 0;
	for (size_t i = 0; i < count; i++)
		if (kinds >> ops[i].kind & 1)
			add(parts, ops[i].begin_ns, ops[i].end_ns);
}

/* Returns true if a copying call waited for its copy, for which CUPTI records no wait. */
static bool is_copy_waited_for(const struct gpu_op *ops, size_t count, size_t call)
{
	for (size_t i = call + 1; i < count && ops[i].begin_ns < ops[call].end_ns; i++)
		if (ops[i].kind == DLPROF_GPU_D2H && ops[i].end_ns <= ops[call].end_ns)
			return true;
	return false;
}

static void unite_waits(const struct gpu_op *ops, size_t count, struct parts *parts)
{
	parts->count = 0;
	for (size_t i = 0; i < count; i++)
		if ((SYNC >> ops[i].kind & 1) ||
		    (ops[i].kind == DLPROF_GPU_API_COPY && is_copy_waited_for(ops, count, i)))
			add(parts, ops[i].begin_ns, ops[i].end_ns);
}

/* Makes the union of the spans in `a` and `b`. `ret` is a third array, with room for both. */
static void join(const struct parts *a, const struct parts *b, struct parts *ret)
{
	size_t i = 0, k = 0;

	ret->count = 0;
	while (i < a->count || k < b->count) {
		bool first =
			k == b->count || (i < a->count && a->at[i].begin_ns <= b->at[k].begin_ns);
		const struct part *part = first ? &a->at[i++] : &b->at[k++];

		add(ret, part->begin_ns, part->end_ns);
	}
}

static size_t find(const struct parts *parts, int64_t ns)
{
	return ARRAY_PLACE(parts->count, i, parts->at[i].end_ns <= ns);
}

static int64_t cover(const struct parts *parts, int64_t begin_ns, int64_t end_ns)
{
	int64_t sum_ns = 0;

	for (size_t i = find(parts, begin_ns); i < parts->count && parts->at[i].begin_ns < end_ns;
	     i++)
		sum_ns +=
			least(parts->at[i].end_ns, end_ns) - most(parts->at[i].begin_ns, begin_ns);
	return sum_ns;
}

static int64_t time_of(struct parts *parts, const struct gpu_op *ops, size_t count, uint32_t kinds,
		       int64_t begin_ns, int64_t end_ns)
{
	unite(ops, count, kinds, parts);
	return cover(parts, begin_ns, end_ns);
}

/* Returns true if the host waits for the GPU at `ns`, or did at most GPU_STEP_SLACK_NS before. */
static bool is_after(const struct parts *sync, int64_t ns)
{
	size_t at = find(sync, ns - GPU_STEP_SLACK_NS - 1);

	return at < sync->count && sync->at[at].begin_ns <= ns;
}

/* Finds the gaps between busy times. The first gap may begin before begin_ns. */
static void find_gaps(const struct parts *busy, int64_t begin_ns, int64_t end_ns,
		      struct parts *gaps)
{
	size_t i = find(busy, begin_ns);
	int64_t from_ns = i ? busy->at[i - 1].end_ns : begin_ns;

	gaps->count = 0;
	for (; i < busy->count && busy->at[i].begin_ns < end_ns; i++) {
		if (busy->at[i].begin_ns > begin_ns)
			gaps->at[gaps->count++] = (struct part){from_ns, busy->at[i].begin_ns};
		from_ns = busy->at[i].end_ns;
	}
	if (from_ns < end_ns)
		gaps->at[gaps->count++] = (struct part){from_ns, end_ns};
}

struct scratch {
	struct part *memory;
	struct parts busy, h2d, sync, others, gaps, after, two, three, four;
};

static void find_after(const struct scratch *s, int64_t begin_ns, int64_t wait_end_ns,
		       struct parts *after)
{
	after->count = 0;
	for (size_t i = 0; i < s->gaps.count; i++) {
		const struct part *gap = &s->gaps.at[i];
		bool waited = wait_end_ns > begin_ns && gap->begin_ns < wait_end_ns;

		if (!waited && is_after(&s->sync, gap->begin_ns))
			add(after, most(gap->begin_ns, begin_ns), gap->end_ns);
	}
}

static void class_gaps(struct scratch *s, int64_t begin_ns, int64_t wait_end_ns,
		       struct gpu_step *ret)
{
	find_after(s, begin_ns, wait_end_ns, &s->after);
	join(&s->sync, &s->after, &s->two);
	join(&s->h2d, &s->two, &s->three);
	join(&s->others, &s->three, &s->four);
	for (size_t i = 0; i < s->gaps.count; i++) {
		const struct part *gap = &s->gaps.at[i];
		int64_t from_ns = most(gap->begin_ns, begin_ns), to_ns = gap->end_ns;
		int64_t h2d_ns, sync_ns, others_ns, rest_ns;

		if (from_ns < wait_end_ns) {
			ret->gap_data_ns += least(to_ns, wait_end_ns) - from_ns;
			from_ns = least(to_ns, wait_end_ns);
			ret->refill_ns = to_ns - from_ns;
		}
		h2d_ns = cover(&s->h2d, from_ns, to_ns);
		sync_ns = cover(&s->three, from_ns, to_ns) - h2d_ns;
		others_ns = cover(&s->four, from_ns, to_ns) - h2d_ns - sync_ns;
		rest_ns = to_ns - from_ns - h2d_ns - sync_ns - others_ns;
		ret->gap_h2d_ns += h2d_ns;
		ret->gap_sync_ns += sync_ns;
		ret->gap_other_ns += others_ns;
		if (to_ns - gap->begin_ns > GPU_STEP_BREATH_NS)
			ret->gap_host_ns += rest_ns;
		else
			ret->gap_other_ns += rest_ns;
	}
}

static void sum_up(const struct gpu_op *op, int64_t begin_ns, int64_t end_ns, struct gpu_step *ret)
{
	bool begins = op->begin_ns >= begin_ns && op->begin_ns < end_ns;
	int64_t within_ns = least(op->end_ns, end_ns) - most(op->begin_ns, begin_ns);
	int64_t bytes = begins && op->bytes < INT64_MAX / 4096 ? (int64_t)op->bytes : 0;

	if (within_ns < 0)
		within_ns = 0;
	switch ((enum dlprof_gpu_kind)op->kind) {
	case DLPROF_GPU_KERNEL:
	case DLPROF_GPU_NCCL:
		ret->kernel_count += begins;
		break;
	case DLPROF_GPU_LAUNCH:
		ret->kernel_count += begins ? DLPROF_GPU_WHAT_ID(op->what) : 0;
		ret->launched_ns += begins && op->device >= 0 ? op->end_ns - op->begin_ns : 0;
		break;
	case DLPROF_GPU_GRAPH:
		ret->graph_count += begins;
		break;
	case DLPROF_GPU_H2D:
		ret->h2d_bytes += bytes;
		if (DLPROF_GPU_WHAT_ID(op->what) & DLPROF_GPU_PAGEABLE)
			ret->h2d_pageable_bytes += bytes;
		break;
	case DLPROF_GPU_D2H:
		ret->d2h_bytes += bytes;
		break;
	case DLPROF_GPU_COPY:
		if (DLPROF_GPU_WHAT_ID(op->what) & DLPROF_GPU_ANYWHERE)
			ret->anywhere_bytes += bytes;
		break;
	case DLPROF_GPU_SYNC_EVENT:
		ret->sync_event_ns += within_ns;
		break;
	case DLPROF_GPU_SYNC_STREAM:
		ret->sync_stream_ns += within_ns;
		break;
	case DLPROF_GPU_SYNC_CONTEXT:
		ret->sync_context_ns += within_ns;
		break;
	default:
		break;
	}
}

static int make_scratch(struct scratch *s, size_t count)
{
	struct parts *const all[] = {&s->busy,  &s->h2d, &s->sync,  &s->others, &s->gaps,
				     &s->after, &s->two, &s->three, &s->four};
	const size_t room = 4 * count + 1; /* `four` needs the most: it joins the first four */

	s->memory = malloc(ARRAY_COUNT(all) * room * sizeof(*s->memory));
	if (!s->memory)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		*all[i] = (struct parts){s->memory + i * room, 0};
	return 0;
}

int gpu_step_measure(const struct gpu_op *ops, size_t count, int64_t begin_ns, int64_t wait_end_ns,
		     int64_t end_ns, struct gpu_step *ret)
{
	struct scratch s;
	int r = make_scratch(&s, count);

	if (r < 0)
		return r;
	*ret = (struct gpu_step){0};
	wait_end_ns = least(most(wait_end_ns, begin_ns), end_ns);
	for (size_t i = 0; i < count; i++)
		sum_up(&ops[i], begin_ns, end_ns, ret);
	ret->nccl_ns = time_of(&s.two, ops, count, BIT(NCCL), begin_ns, end_ns);
	ret->compute_ns = time_of(&s.two, ops, count, BUSY & ~BIT(NCCL), begin_ns, end_ns);
	ret->loading_ns = time_of(&s.two, ops, count, BIT(LOADER), begin_ns, end_ns);
	ret->d2h_ns = time_of(&s.two, ops, count, BIT(D2H), begin_ns, end_ns);
	ret->memset_ns = time_of(&s.two, ops, count, BIT(MEMSET), begin_ns, end_ns);
	unite(ops, count, BUSY, &s.busy);
	ret->busy_ns = cover(&s.busy, begin_ns, end_ns);
	unite(ops, count, BIT(H2D), &s.h2d);
	ret->h2d_ns = cover(&s.h2d, begin_ns, end_ns);
	unite_waits(ops, count, &s.sync);
	unite(ops, count, OTHERS, &s.others);
	find_gaps(&s.busy, begin_ns, end_ns, &s.gaps);
	class_gaps(&s, begin_ns, wait_end_ns, ret);
	free(s.memory);
	return 0;
}

#define THREADS_MOST 256 /* calls of more threads are not followed, so nested ones count twice */

/* A thread whose calls have been counted up to end_ns. */
struct thread {
	uint32_t id;
	int64_t end_ns;
};

struct threads {
	struct thread at[THREADS_MOST];
	size_t count;
};

static struct thread *find_thread(struct threads *threads, uint32_t id)
{
	for (size_t i = 0; i < threads->count; i++)
		if (threads->at[i].id == id)
			return &threads->at[i];
	if (threads->count == THREADS_MOST)
		return NULL;
	threads->at[threads->count] = (struct thread){id, INT64_MIN};
	return &threads->at[threads->count++];
}

static int64_t *time_of_call(struct gpu_call_times *times, enum dlprof_gpu_kind kind)
{
	switch (kind) {
	case DLPROF_GPU_API_SYNC:
		return &times->sync_ns;
	case DLPROF_GPU_API_COPY:
		return &times->copy_ns;
	case DLPROF_GPU_API_LAUNCH:
		return &times->launch_ns;
	default:
		return NULL;
	}
}

void gpu_calls_measure(const struct gpu_op *ops, size_t count, int64_t begin_ns, int64_t end_ns,
		       uint32_t training_thread, struct gpu_calls *ret)
{
	struct threads threads = {.count = 0};

	*ret = (struct gpu_calls){{0}, {0}};
	for (size_t i = 0; i < count; i++) {
		const struct gpu_op *op = &ops[i];
		uint32_t id = DLPROF_GPU_WHAT_ID(op->what);
		struct gpu_call_times *times =
			id == training_thread ? &ret->training : &ret->others;
		int64_t *time_ns = time_of_call(times, (enum dlprof_gpu_kind)op->kind);
		struct thread *thread = time_ns ? find_thread(&threads, id) : NULL;
		int64_t from_ns = op->begin_ns, to_ns = op->end_ns < end_ns ? op->end_ns : end_ns;
		bool within = thread && from_ns < thread->end_ns;

		if (!time_ns)
			continue;
		if (op->kind == DLPROF_GPU_API_LAUNCH && !within && from_ns >= begin_ns &&
		    from_ns < end_ns)
			times->launch_count++;
		if (within)
			from_ns = thread->end_ns;
		if (from_ns < begin_ns)
			from_ns = begin_ns;
		if (to_ns > from_ns)
			*time_ns += to_ns - from_ns;
		if (thread && op->end_ns > thread->end_ns)
			thread->end_ns = op->end_ns;
	}
}
