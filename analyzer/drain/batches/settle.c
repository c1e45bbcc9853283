/* SPDX-License-Identifier: Apache-2.0 */
/* settle.c - decides when a batch is complete, and makes its row. */
#include "drain/batches/sampler.h"
#include "drain/batches/stream.h"

/* after this time a batch is written, even if the record of its load has not been read */
#define PATIENCE_NS     UINT64_C(2000000000)
#define PATIENCE_ROUNDS 6

/* this long after its worker ended, a batch that nobody took counts as never delivered */
#define ABANDON_NS     UINT64_C(30000000000)
#define ABANDON_ROUNDS 80

static uint64_t load_end_ns(const struct entry *entry)
{
	return entry->load.begin_ns + entry->load.duration_ns;
}

static void fill_load(const struct entry *entry, struct batch_values *values)
{
	const struct dlprof_event *event = &entry->load;
	const struct dlprof_load *load = &event->load;

	values->worker_id = event->worker < 0 ? UNKNOWN : event->worker;
	values->pid = entry->loader.pid;
	values->load_begin_ns = (int64_t)event->begin_ns;
	values->load_ns = (int64_t)event->duration_ns;
	if (event->flags & DLPROF_FLAG_COLLATE_SEEN)
		values->collate_ns = (int64_t)load->collate_ns;
	values->blocked_ns = (int64_t)load->blocked_ns;
	values->cpu_ns = (int64_t)load->cpu_ns;
	values->samples = load->samples ? load->samples : UNKNOWN;
	values->open_count = load->open_count;
	values->open_ns = (int64_t)load->open_ns;
	values->read_count = load->read_count;
	values->read_bytes = (int64_t)load->read_bytes;
	values->read_ns = (int64_t)load->read_ns;
	values->storage_bytes = (int64_t)load->storage_blocks * 512;
	if (load->decode_count == UINT32_MAX)
		return;
	values->decode_count = load->decode_count;
	values->decode_ns = (int64_t)load->decode_ns;
	values->decode_bytes = (int64_t)load->decode_bytes;
}

/* Returns UNKNOWN also for impossible values, of which a sum would overflow. */
static int64_t known(uint64_t value)
{
	return value > INT64_MAX >> 12 ? UNKNOWN : (int64_t)value;
}

static void fill_parts(const struct dlprof_parts *parts, struct batch_values *values)
{
	values->before_ns = known(parts->ns[DLPROF_PART_BEFORE]);
	values->backward_ns = known(parts->ns[DLPROF_PART_BACKWARD]);
	values->between_ns = known(parts->ns[DLPROF_PART_BETWEEN]);
	values->optimizer_ns = known(parts->ns[DLPROF_PART_OPTIMIZER]);
	values->save_ns = known(parts->ns[DLPROF_PART_SAVE]);
}

static void fill_batch(const struct entry *entry, struct batch_values *values)
{
	const struct dlprof_event *event = &entry->batch;
	const struct dlprof_batch *batch = &event->batch;
	int64_t waited_elsewhere_ns;

	values->batch = (int64_t)batch->ordinal;
	values->begin_ns = (int64_t)event->begin_ns;
	if (event->flags & DLPROF_FLAG_STEP) {
		values->step_ns = (int64_t)event->duration_ns;
		return;
	}
	values->wait_ns = (int64_t)event->duration_ns;
	if (batch->receive_ns != UINT64_MAX)
		values->receive_ns = (int64_t)batch->receive_ns;
	if (batch->sample_ns != UINT64_MAX)
		values->sample_ns = (int64_t)batch->sample_ns;
	if (batch->fetch_count != UINT32_MAX) {
		values->fetch_count = batch->fetch_count;
		values->fetch_ns = (int64_t)batch->fetch_ns;
		values->fetch_cpu_ns = (int64_t)batch->fetch_cpu_ns;
	}
	/* Until the end of the batch's step was read, a free_ns of 0 only means: not yet known. */
	if (entry->free_ns || (entry->stepped && batch->fetch_count != UINT32_MAX))
		values->free_ns = (int64_t)entry->free_ns;
	if (!entry->stepped)
		return;
	values->step_ns = (int64_t)(entry->step_end_ns - event->begin_ns);
	waited_elsewhere_ns =
		(int64_t)(entry->waited_end_ns - batch->waited_ns - event->duration_ns);
	if (waited_elsewhere_ns < 0)
		waited_elsewhere_ns = 0;
	/* A damaged ring may have impossible times, whose difference overflows. */
	if (__builtin_sub_overflow(values->step_ns, values->wait_ns, &values->compute_ns) ||
	    __builtin_sub_overflow(values->compute_ns, waited_elsewhere_ns, &values->compute_ns))
		values->compute_ns = 0;
	if (values->compute_ns < 0)
		values->compute_ns = 0;
	if (entry->parts_seen)
		fill_parts(&entry->parts, values);
}

/* Sets transfer_ns: the time until arrival, from the load's end or, if later, from the request. */
static void fill_transfer(const struct entry *entry, struct batch_values *values)
{
	const struct dlprof_batch *batch = &entry->batch.batch;
	uint64_t begin_ns = load_end_ns(entry);

	if (batch->ask_ns > begin_ns)
		begin_ns = batch->ask_ns;
	if (batch->arrived && batch->arrive_ns >= begin_ns)
		values->transfer_ns = (int64_t)(batch->arrive_ns - begin_ns);
}

/* Sets qdepth, which counts this batch, and hol_ns: the wait while only later ones were ready. */
static void fill_queue(const struct stream *stream, const struct entry *entry,
		       struct batch_values *values)
{
	uint64_t begin_ns = entry->batch.begin_ns, end_ns = begin_ns + entry->batch.duration_ns;
	uint64_t first_ns = UINT64_MAX;
	int64_t depth = 0;

	/* Without a worker's load there is no queue: the consumer loaded the batch itself. */
	if (!entry->loaded || (stream->key & DLPROF_STREAM_LOCAL) ||
	    (entry->batch.flags & DLPROF_FLAG_STEP))
		return;
	for (size_t i = 0; i < stream->count; i++) {
		const struct entry *other = &stream->entries[i];

		if (!other->loaded)
			continue;
		if (load_end_ns(other) <= begin_ns)
			depth++;
		if (other != entry && load_end_ns(other) < first_ns)
			first_ns = load_end_ns(other);
	}
	values->qdepth = depth;
	values->head_ready = load_end_ns(entry) <= begin_ns;
	values->ready_ns = values->head_ready ? (int64_t)(begin_ns - load_end_ns(entry)) : 0;
	if (!stream->order_unknown)
		values->hol_ns = 0;
	if (load_end_ns(entry) < end_ns)
		end_ns = load_end_ns(entry);
	if (stream->in_order && !values->head_ready && first_ns < end_ns)
		values->hol_ns = (int64_t)(end_ns - (first_ns > begin_ns ? first_ns : begin_ns));
	fill_transfer(entry, values);
}

static int tell_gpu(struct join *join, const struct stream *stream, const struct entry *entry,
		    const struct batch_values *values)
{
	struct gpu_batch batch = {
		.loader_id = values->loader_id,
		.epoch = values->epoch,
		.task = values->task,
		.begin_ns = values->begin_ns,
		.end_ns = values->begin_ns + values->step_ns,
		.wait_ns = values->wait_ns,
		.tid = stream->tid,
	};

	if (entry->parts_seen && values->compute_ns >= 0 &&
	    !gpu_parts_find(&entry->parts, batch.end_ns - values->compute_ns, batch.end_ns,
			    batch.edges))
		batch.edges[GPU_PARTS] = 0;
	return gpu_join_batch(&join->gpu, &stream->consumer, &batch);
}

static struct live_place place_of(const struct stream *stream)
{
	struct live_place place = stream->place;

	place.consumer = stream->consumer;
	place.tid = stream->seen.tid;
	place.nested = stream->seen.nested == 1;
	return place;
}

static void count_stop(struct join *join, struct stream *stream)
{
	const struct live_place place = place_of(stream);

	if (!join->live || !stream->closed || stream->count || stream->stop_counted)
		return;
	live_stop(join->live, &place, stream->seen.stop_begin_ns, stream->seen.stop_ns);
	stream->stop_counted = true;
}

static int write_made(struct join *join, const struct stream *stream, const struct entry *entry)
{
	const struct made_row row = {
		.loader_id = stream->loader_id,
		.epoch = stream->epoch,
		.task = entry->task,
		.tensor_count = known(entry->made.tensor_count),
		.batch_bytes = known(entry->made.bytes),
		.object_count = known(entry->made.objects),
	};

	return writer_made(join->writer, &row);
}

static int write_entry(struct join *join, const struct stream *stream, const struct entry *entry)
{
	const struct live_place place = place_of(stream);
	struct batch_values values;
	int r;

	batch_values_init(&values);
	values.loader_id = stream->loader_id;
	values.epoch = stream->epoch;
	values.task = entry->task;
	if (entry->loaded)
		fill_load(entry, &values);
	if (entry->delivered) {
		fill_batch(entry, &values);
		fill_queue(stream, entry, &values);
	}
	join->rows++;
	r = writer_batch(join->writer, &values);
	if (r == 0 && entry->made_seen)
		r = write_made(join, stream, entry);
	if (r == 0 && join->live)
		live_row(join->live, &place, &values, entry->loaded, entry->delivered);
	sampler_settle(join->sampler, stream, entry);
	/* A damaged ring may have impossible times. */
	if (r == 0 && values.step_ns >= 0 && values.step_ns < INT64_MAX / 4 &&
	    values.begin_ns >= 0 && values.begin_ns < INT64_MAX / 4)
		r = tell_gpu(join, stream, entry, &values);
	return r;
}

/* Returns true if the entry is older than both limits. A round takes 0.5 s, or 2 ms if busy. */
static bool is_older(const struct join *join, const struct entry *entry, uint32_t rounds,
		     uint64_t ns)
{
	return join->round - entry->round > rounds && join->now_ns - entry->since_ns > ns;
}

/* Returns true if no consumer will take the loaded batch, since it skipped the task or ended. */
static bool is_left_over(const struct join *join, const struct stream *stream,
			 const struct entry *entry)
{
	if (stream->closed)
		return true;
	if (entry->abandoned && is_older(join, entry, ABANDON_ROUNDS, ABANDON_NS))
		return true;
	/* In order, tasks before the last delivered one were skipped: their loads had failed. */
	return stream->in_order && stream->has_last && entry->task < stream->last_task;
}

static bool is_complete(const struct join *join, const struct stream *stream,
			const struct entry *entry)
{
	if (join->finishing)
		return true;
	if (entry->round == join->round)
		return false;
	if (!entry->delivered)
		return is_left_over(join, stream, entry);
	if (!entry->stepped && !entry->over && !stream->closed)
		return false;
	return entry->loaded || (entry->batch.flags & DLPROF_FLAG_STEP) ||
	       is_older(join, entry, PATIENCE_ROUNDS, PATIENCE_NS);
}

/* Returns the earliest delivered batch, once complete: fill_queue() needs the rows in order. */
static struct entry *next_delivered(const struct join *join, const struct stream *stream,
				    bool *ret_pending)
{
	struct entry *first = NULL;

	for (size_t i = 0; i < stream->count; i++) {
		struct entry *entry = &stream->entries[i];

		if (!entry->delivered)
			continue;
		if (!first || entry->batch.batch.ordinal < first->batch.batch.ordinal)
			first = entry;
		if (stream->in_order || (entry->batch.flags & DLPROF_FLAG_STEP))
			break;
	}
	*ret_pending = first;
	return first && is_complete(join, stream, first) ? first : NULL;
}

static int settle_left(struct join *join, struct stream *stream, bool pending)
{
	size_t excess = stream->count > STREAM_MOST ? stream->count - STREAM_MOST : 0;
	size_t kept = 0;
	int r = 0;

	if (pending && !excess)
		return 0;
	for (size_t i = 0; i < stream->count; i++) {
		const struct entry *entry = &stream->entries[i];

		if (r == 0 && !entry->delivered &&
		    (excess || (!pending && is_complete(join, stream, entry)))) {
			r = write_entry(join, stream, entry);
			if (r == 0) {
				excess -= excess > 0;
				continue;
			}
		}
		stream->entries[kept++] = *entry;
	}
	stream->count = kept;
	return r;
}

int settle_stream(struct join *join, struct stream *stream)
{
	struct entry *entry;
	bool pending;
	int r;

	if (!stream->known)
		return 0;
	while ((entry = next_delivered(join, stream, &pending))) {
		r = write_entry(join, stream, entry);
		if (r < 0)
			return r;
		entry_remove(stream, entry);
	}
	r = settle_left(join, stream, pending);
	count_stop(join, stream);
	return r;
}
