/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gpu/gpu_call.h"

#include <stdbool.h>

#define THREADS_MOST 256 /* in threads beyond these, nested calls count twice */

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

static int64_t *time_of(struct gpu_call_times *times, enum dlprof_gpu_kind kind)
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
		int64_t *time_ns = time_of(times, (enum dlprof_gpu_kind)op->kind);
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
