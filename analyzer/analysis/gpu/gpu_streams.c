/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gpu/gpu_streams.h"

#define TRAINERS_MOST 16
/* a starved stream's busy share in waits is at most this part of its busy share outside of waits */
#define STARVED_MOST  0.25

enum owner { OWNER_NOT_ASKED, OWNER_TRAINING, OWNER_LOADER, OWNER_DOUBTFUL };

struct trainers {
	uint32_t threads[TRAINERS_MOST];
	size_t count;
	uint64_t streams; /* bit i: a thread of the training launches to stream i */
};

void gpu_streams_note(struct gpu_streams *streams, const struct gpu_op *op)
{
	uint32_t number = DLPROF_GPU_WHAT_STREAM(op->what), id = DLPROF_GPU_WHAT_ID(op->what);
	enum dlprof_gpu_kind kind = (enum dlprof_gpu_kind)DLPROF_GPU_WHAT_KIND(op->what);
	struct gpu_stream *stream;
	size_t i = 0;

	if ((kind != DLPROF_GPU_KERNEL && kind != DLPROF_GPU_LOADER) || op->device < 0 ||
	    op->device >= GPU_DEVICES_MOST)
		return;
	streams->used[op->device] |= UINT64_C(1) << number;
	stream = &streams->at[op->device][number];
	stream->count++;
	*(kind == DLPROF_GPU_LOADER ? &stream->named_ns : &stream->other_ns) +=
		(double)(op->end_ns - op->begin_ns);
	while (id && i < GPU_STREAMS_THREADS && stream->threads[i] && stream->threads[i] != id)
		i++;
	if (!id || i == GPU_STREAMS_THREADS)
		return;
	stream->threads[i] = id;
	stream->launches[i]++;
}

static bool is_of_stream(const struct gpu_stream *stream, size_t thread)
{
	return stream->threads[thread] &&
	       stream->launches[thread] >= GPU_STREAMS_LAUNCHES * stream->count;
}

static bool is_trainer(const struct trainers *trainers, uint32_t thread)
{
	for (size_t i = 0; i < trainers->count; i++)
		if (trainers->threads[i] == thread)
			return true;
	return false;
}

static bool is_shared(const struct gpu_stream *stream, const struct trainers *trainers)
{
	for (size_t i = 0; i < GPU_STREAMS_THREADS; i++)
		if (is_of_stream(stream, i) && is_trainer(trainers, stream->threads[i]))
			return true;
	return false;
}

static void add_stream(const struct gpu_stream *stream, struct trainers *trainers)
{
	for (size_t i = 0; i < GPU_STREAMS_THREADS; i++)
		if (is_of_stream(stream, i) && !is_trainer(trainers, stream->threads[i]) &&
		    trainers->count < TRAINERS_MOST)
			trainers->threads[trainers->count++] = stream->threads[i];
}

/* Finds the training's threads: `thread`, and those that share a stream with one of them. */
static void find_trainers(const struct gpu_streams *streams, int device, uint32_t thread,
			  struct trainers *ret)
{
	bool found = true;

	*ret = (struct trainers){.threads = {DLPROF_GPU_WHAT_ID(thread)}, .count = thread != 0};
	while (found) {
		found = false;
		for (uint64_t left = streams->used[device] & ~ret->streams; left;
		     left &= left - 1) {
			int number = __builtin_ctzll(left);
			const struct gpu_stream *stream = &streams->at[device][number];

			if (!is_shared(stream, ret))
				continue;
			ret->streams |= UINT64_C(1) << number;
			add_stream(stream, ret);
			found = true;
		}
	}
}

static enum owner owner_of(const struct gpu_stream *stream, uint32_t number,
			   const struct trainers *trainers)
{
	if (number == GPU_STREAMS_DEFAULT || trainers->streams >> number & 1)
		return OWNER_TRAINING;
	if (trainers->streams && stream->threads[0])
		return OWNER_LOADER;
	if (!(stream->named_ns > 0))
		return OWNER_TRAINING;
	return stream->named_ns >= stream->other_ns ? OWNER_LOADER : OWNER_DOUBTFUL;
}

static size_t mark_device(const struct gpu_streams *streams, int device,
			  const struct trainers *trainers, bool doubtful_are, struct gpu_op *ops,
			  size_t count)
{
	enum owner owners[GPU_STREAMS_MOST] = {OWNER_NOT_ASKED};
	size_t doubtful = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t number = DLPROF_GPU_WHAT_STREAM(ops[i].what);
		enum owner *owner = &owners[number];

		if (ops[i].device != device ||
		    DLPROF_GPU_WHAT_KIND(ops[i].what) != DLPROF_GPU_KERNEL)
			continue;
		if (*owner == OWNER_NOT_ASKED)
			*owner = owner_of(&streams->at[device][number], number, trainers);
		doubtful += *owner == OWNER_DOUBTFUL;
		ops[i].kind = *owner == OWNER_LOADER || (*owner == OWNER_DOUBTFUL && doubtful_are)
				      ? DLPROF_GPU_LOADER
				      : DLPROF_GPU_KERNEL;
	}
	return doubtful;
}

size_t gpu_streams_mark(const struct gpu_streams *streams, uint32_t training_thread,
			bool doubtful_are, struct gpu_op *ops, size_t count)
{
	struct trainers trainers;
	size_t doubtful = 0;

	for (int device = 0; device < GPU_DEVICES_MOST; device++) {
		if (!(streams->used[device] & ~(UINT64_C(1) << GPU_STREAMS_DEFAULT)))
			continue;
		find_trainers(streams, device, training_thread, &trainers);
		doubtful += mark_device(streams, device, &trainers, doubtful_are, ops, count);
	}
	return doubtful;
}

static int64_t overlap(const struct gpu_op *op, int64_t begin_ns, int64_t end_ns)
{
	const int64_t from_ns = op->begin_ns > begin_ns ? op->begin_ns : begin_ns;
	const int64_t to_ns = op->end_ns < end_ns ? op->end_ns : end_ns;

	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Returns the busiest of the streams that are hardly busy in waits, or GPU_STREAMS_MOST. */
static uint32_t find_starved(const struct gpu_streams *streams, int device)
{
	uint32_t best = GPU_STREAMS_MOST;
	double most = 0;

	for (uint64_t left = streams->used[device]; left; left &= left - 1) {
		const uint32_t i = (uint32_t)__builtin_ctzll(left);
		const struct gpu_stream *stream = &streams->at[device][i];
		const double wait = stream->wait_ns / streams->wait_ns;
		const double rest = stream->rest_ns / streams->rest_ns;

		if (stream->threads[0] || !(rest > most) || wait > STARVED_MOST * rest)
			continue;
		most = rest;
		best = i;
	}
	return best;
}

/* Returns for how long kernels of other streams ran while the stream `starved` did nothing. */
static int64_t mask_device(const struct gpu_op *ops, size_t count, int device, uint32_t starved,
			   int64_t begin_ns, int64_t end_ns)
{
	int64_t ns[2] = {0, 0}, reached_ns[2] = {begin_ns, begin_ns}; /* [0]: all; [1]: no others */

	for (size_t i = 0; i < count; i++) {
		const bool is_other = ops[i].kind == DLPROF_GPU_KERNEL &&
				      DLPROF_GPU_WHAT_STREAM(ops[i].what) != starved;

		for (int k = 0; k < (is_other ? 1 : 2); k++) {
			if (ops[i].device != device || !(GPU_STEP_BUSY >> ops[i].kind & 1))
				continue;
			ns[k] += overlap(&ops[i], reached_ns[k], end_ns);
			if (ops[i].end_ns > reached_ns[k])
				reached_ns[k] = ops[i].end_ns;
		}
	}
	return ns[0] - ns[1];
}

void gpu_streams_mask(struct gpu_streams *streams, const struct gpu_op *ops, size_t count,
		      int64_t begin_ns, int64_t wait_end_ns, int64_t end_ns)
{
	int64_t most_ns = 0, ns;

	for (size_t i = 0; i < count; i++) {
		const uint32_t number = DLPROF_GPU_WHAT_STREAM(ops[i].what);
		struct gpu_stream *stream;

		if (ops[i].kind != DLPROF_GPU_KERNEL || ops[i].device < 0 ||
		    ops[i].device >= GPU_DEVICES_MOST)
			continue;
		stream = &streams->at[ops[i].device][number];
		stream->wait_ns += (double)overlap(&ops[i], begin_ns, wait_end_ns);
		stream->rest_ns += (double)overlap(&ops[i], wait_end_ns, end_ns);
	}
	streams->wait_ns += (double)(wait_end_ns - begin_ns);
	streams->rest_ns += (double)(end_ns - wait_end_ns);
	for (int i = 0; i < GPU_DEVICES_MOST; i++) {
		const uint32_t starved = find_starved(streams, i);

		if (starved == GPU_STREAMS_MOST)
			continue;
		ns = mask_device(ops, count, i, starved, begin_ns, wait_end_ns);
		most_ns = ns > most_ns ? ns : most_ns;
	}
	streams->masked_ns += (double)most_ns;
}
