/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/batches/join.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drain/base/now.h"
#include "drain/batches/sampler.h"
#include "drain/batches/stages.h"
#include "drain/batches/stream.h"
#include "drain/database/facts.h"

int join_open(struct writer *writer, struct live *live, struct sampler *sampler,
	      struct join **ret_join)
{
	struct join *join = calloc(1, sizeof(*join));

	if (!join)
		return -ENOMEM;
	join->writer = join->gpu.writer = writer;
	join->live = live;
	join->sampler = sampler;
	join->now_ns = now_ns();
	*ret_join = join;
	return 0;
}

void join_close(struct join *join)
{
	if (!join)
		return;
	for (struct stream *stream = join->streams, *next; stream; stream = next) {
		next = stream->next;
		stream_free(stream);
	}
	gpu_join_done(&join->gpu);
	free(join);
}

static int find_known(struct join *join, struct stream *stream)
{
	int64_t in_order = UNKNOWN;
	int r;

	r = writer_find_epoch(join->writer, stream->key, stream->generation, &stream->loader_id,
			      &stream->epoch, &in_order);
	if (r == -ENOENT)
		return 0;
	stream->known = r == 0;
	stream->in_order = in_order == 1;
	stream->order_unknown = in_order == UNKNOWN;
	return r;
}

/* Returns true for a pool: it numbers tasks through all epochs, and its loads name no epoch. */
static bool is_pool(uint64_t key)
{
	return (key & (DLPROF_STREAM_LOCAL | DLPROF_STREAM_MARKS | DLPROF_STREAM_POOL)) ==
	       DLPROF_STREAM_POOL;
}

/* Returns true if a pool's record may be of this epoch: the record names none, or begins it. */
static bool may_be(const struct stream *stream, const struct dlprof_event *event)
{
	if (event->generation == DLPROF_GENERATION_ANY)
		return !stream->closed;
	return event->kind == DLPROF_EVENT_EPOCH && stream->generation == DLPROF_GENERATION_ANY;
}

/* Finds or makes the record's stream. A load of a pool may be moved to another epoch by claim(). */
static int find_stream(struct join *join, const struct dlprof_event *event,
		       struct stream **ret_stream)
{
	const bool of_pool = is_pool(event->stream);
	const bool is_any = of_pool && event->generation == DLPROF_GENERATION_ANY;
	struct stream *stream, *found = NULL;

	for (stream = join->streams; stream; stream = stream->next) {
		if (stream->key != event->stream)
			continue;
		if (is_any ? entry_find(stream, event->task) != NULL
			   : stream->generation == event->generation)
			break;
		if (of_pool && !found && may_be(stream, event))
			found = stream;
	}
	if (!stream)
		stream = found;
	if (!stream) {
		stream = stream_new(event->stream, event->generation);
		if (!stream)
			return -ENOMEM;
		stream->next = join->streams;
		join->streams = stream;
	}
	if (!is_any)
		stream->generation = event->generation;
	*ret_stream = stream;
	return stream->known ? 0 : find_known(join, stream);
}

static int claim(const struct join *join, struct stream *stream, uint32_t first, uint32_t last)
{
	if (!is_pool(stream->key))
		return 0;
	for (struct stream *other = join->streams; other; other = other->next) {
		if (other == stream || other->key != stream->key)
			continue;
		for (size_t i = 0; i < other->count;) {
			const struct entry moved = other->entries[i];
			struct entry *entry;

			if (moved.delivered || moved.task < first || moved.task > last) {
				i++;
				continue;
			}
			entry = entry_make(stream, moved.task);
			if (!entry)
				return -ENOMEM;
			*entry = moved;
			entry_remove(other, &other->entries[i]);
		}
	}
	return 0;
}

static void came_now(const struct join *join, struct entry *entry)
{
	entry->round = join->round;
	entry->since_ns = join->now_ns;
}

static int64_t flag(uint32_t flags, uint32_t bit)
{
	return (flags & bit) != 0;
}

static int note_process(struct join *join, const struct stream *stream, struct segment *segment,
			const char *role, int64_t worker_id)
{
	struct process_row row = facts_process(segment);

	row.worker_id = worker_id;
	if (stream->known)
		row.loader_id = stream->loader_id;
	if (worker_id != UNKNOWN)
		row.stream = (int64_t)stream->key;
	row.role = segment->joined.role = role;
	segment->joined.worker_id = worker_id;
	return writer_process(join->writer, &row);
}

/* Notes when a new iterator ended older ones' last steps, in case these are not used again. */
static void supersede(const struct join *join, const struct stream *stream, const struct ring *ring,
		      const struct dlprof_event *event)
{
	for (struct stream *older = join->streams; older; older = older->next) {
		if (older == stream)
			continue;
		if (older->has_last && older->last_ring == ring && !older->left_ns &&
		    !(event->flags & DLPROF_FLAG_NESTED)) {
			older->left_ns = event->begin_ns;
			older->left_waited_ns = event->epoch.waited_ns;
			if (older->dropped_ns) {
				older->left_ns = older->dropped_ns;
				older->left_waited_ns = older->dropped_waited_ns;
				stream_close(join, older);
			}
		}
		if (older->key == stream->key && older->generation < stream->generation)
			stream_close(join, older);
		else if (older->known && older->loader_id == stream->loader_id && older->has_last)
			stream_leave(older);
	}
}

static void take_free(const struct join *join, const struct ring *ring, uint64_t free_ns)
{
	struct entry *newest = NULL;
	uint64_t newest_ns = 0;

	for (struct stream *stream = join->streams; free_ns && stream; stream = stream->next) {
		struct entry *last = stream->has_last && stream->last_ring == ring
					     ? entry_find(stream, stream->last_task)
					     : NULL;
		uint64_t out_ns = last ? last->batch.begin_ns + last->batch.duration_ns : 0;

		if (out_ns > newest_ns) {
			newest = last;
			newest_ns = out_ns;
		}
	}
	if (newest)
		newest->free_ns = free_ns;
}

static int64_t epoch_sample_ns(const struct dlprof_event *event)
{
	const uint64_t sample_ns = UINT64_C(1000) * event->epoch.sample_us;

	if (event->epoch.sample_us > DLPROF_EPOCH_SAMPLE_US)
		return UNKNOWN;
	return (int64_t)(sample_ns < event->duration_ns ? sample_ns : event->duration_ns);
}

static int take_epoch(struct join *join, struct stream *stream, const struct record *record)
{
	struct segment *segment = record->segment;
	struct dlprof_event *event = record->event;
	struct dlprof_epoch *epoch = &event->epoch;
	bool opaque = epoch->flags & DLPROF_EPOCH_OPAQUE;
	struct loader_row loader = {
		.pid = segment->header->pid,
		.number = facts_loader(segment, epoch->loader),
		.workers = epoch->workers < 0 ? UNKNOWN : epoch->workers,
		.prefetch_factor =
			epoch->prefetch_factor < 0 ? UNKNOWN : epoch->prefetch_factor,
		.in_order = opaque ? UNKNOWN : flag(epoch->flags, DLPROF_EPOCH_IN_ORDER),
		.lacks_order = flag(epoch->flags, DLPROF_EPOCH_LACKS_ORDER),
		.persistent = opaque ? UNKNOWN : flag(epoch->flags, DLPROF_EPOCH_PERSISTENT),
		.batch_size = epoch->batch_size < 0 ? UNKNOWN : epoch->batch_size,
		.kind = epoch->kind,
	};
	struct epoch_row row = {
		.epoch = epoch->epoch,
		.begin_ns = (int64_t)event->begin_ns,
		.setup_ns = opaque && !event->duration_ns ? UNKNOWN
							  : (int64_t)event->duration_ns,
		.stream = (int64_t)event->stream,
		.generation = event->generation,
		.tid = record_trainer(record),
		.nested = flag(event->flags, DLPROF_FLAG_NESTED),
		.sample_ns = opaque ? UNKNOWN : epoch_sample_ns(event),
	};
	int r;

	take_free(join, record->ring, epoch->free_ns);
	epoch->kind[sizeof(epoch->kind) - 1] = '\0';
	r = writer_loader(join->writer, &loader, &row.loader_id);
	if (r == 0)
		r = writer_epoch(join->writer, &row);
	if (r < 0)
		return r;
	stream->known = true;
	stream->consumer = segment_life(segment);
	stream->loader_id = row.loader_id;
	stream->epoch = row.epoch;
	stream->in_order = loader.in_order == 1;
	stream->order_unknown = loader.in_order == UNKNOWN;
	stream->place.workers = epoch->workers;
	stream->place.setup_begin_ns = row.begin_ns;
	stream->place.setup_ns = row.setup_ns;
	r = claim(join, stream, event->task, UINT32_MAX);
	if (r < 0)
		return r;
	supersede(join, stream, record->ring, event);
	sampler_epoch(join->sampler, record, stream->loader_id);
	return segment->joined.role ? 0 : note_process(join, stream, segment, "main", UNKNOWN);
}

static void end_step(struct stream *stream, const struct dlprof_event *event,
		     const struct ring *ring)
{
	const struct entry *last = stream->has_last ? entry_find(stream, stream->last_task) : NULL;

	stream->left_ns = 0;
	if (!last)
		return;
	/* waited_ns sums the waits of one thread. So the step excludes waits for other loaders. */
	stream_end_step(stream, event->begin_ns,
			ring == stream->last_ring
				? event->batch.waited_ns
				: last->batch.batch.waited_ns + last->batch.duration_ns);
}

static int take_batch(struct join *join, struct stream *stream, const struct record *record)
{
	const struct dlprof_event *event = record->event;
	struct segment *segment = record->segment;
	struct ring *ring = record->ring;
	struct entry *entry;

	stream->consumer = segment_life(segment);
	stream->tid = ring->tid;
	take_free(join, ring, event->batch.free_ns);
	end_step(stream, event, ring);
	/* The thread that takes the first batch trains, even if another thread called iter(). If a
	 * second thread takes a batch, these threads are a pool, and the main thread trains. */
	if (stream->seen.tid == UNKNOWN ||
	    (event->flags & DLPROF_FLAG_POOL && stream->seen.tid != segment->header->pid)) {
		stream->seen.tid = record_trainer(record);
		stream->seen.nested = flag(event->flags, DLPROF_FLAG_NESTED);
		stream->seen_more = true;
	}
	if (claim(join, stream, event->task, event->task) < 0)
		return -ENOMEM;
	entry = entry_make(stream, event->task);
	if (!entry)
		return -ENOMEM;
	entry->delivered = true;
	entry->batch = *event;
	entry->batch_held = (struct held){ring, record->position};
	came_now(join, entry);
	segment->joined.batch_ns = event->begin_ns + event->duration_ns;
	if (event->flags & DLPROF_FLAG_STEP) {
		entry->stepped = true;
		entry->step_end_ns = event->begin_ns + event->duration_ns;
		return 0;
	}
	stream->has_last = true;
	stream->last_task = event->task;
	stream->last_ring = ring;
	return 0;
}

static int take_load(const struct join *join, struct stream *stream, const struct record *record)
{
	const struct dlprof_event *event = record->event;
	struct entry *entry = entry_make(stream, event->task);

	if (!entry)
		return -ENOMEM;
	entry->loaded = true;
	entry->load = *event;
	record->segment->joined.loaded_ns += (double)event->duration_ns;
	entry->loader = segment_life(record->segment);
	entry->load_held = (struct held){record->ring, record->position};
	came_now(join, entry);
	return 0;
}

static void take_made(struct stream *stream, const struct dlprof_event *event)
{
	struct entry *entry = entry_find(stream, event->task);

	if (!entry || !entry->loaded)
		return;
	entry->made = event->made;
	entry->made_seen = true;
}

static void add_parts(struct dlprof_parts *parts, const struct dlprof_parts *more)
{
	for (int i = 0; i < DLPROF_PART_MAX; i++)
		if (__builtin_add_overflow(parts->ns[i], more->ns[i], &parts->ns[i]))
			parts->ns[i] = UINT64_MAX;
	if (!parts->backward_ns)
		parts->backward_ns = more->backward_ns;
	if (more->last_ns)
		parts->last_ns = more->last_ns;
}

static void take_parts(const struct join *join, struct stream *stream, const struct record *record)
{
	const struct dlprof_event *event = record->event;
	const uint64_t save_ns = event->parts.ns[DLPROF_PART_SAVE];
	struct entry *entry;

	sampler_save(join->sampler, record, stream->known ? stream->loader_id : 0);
	if (event->flags & DLPROF_FLAG_OUTSIDE) {
		if (stream->seen.save_ns == UNKNOWN)
			stream->seen.save_ns = 0;
		if (save_ns < INT64_MAX / 4)
			stream->seen.save_ns += (int64_t)save_ns;
		stream->seen_more = true;
		return;
	}
	entry = entry_find(stream, event->task);
	if (!entry || !entry->delivered || stream->last_ring != record->ring)
		return;
	add_parts(&entry->parts, &event->parts);
	entry->parts_seen = true;
}

static int take_operation(struct join *join, const struct record *record)
{
	static const char *const classes[DLPROF_CLASS_MAX] = {
		[DLPROF_CLASS_OPEN] = "open",     [DLPROF_CLASS_READ] = "read",
		[DLPROF_CLASS_DECODE] = "decode", [DLPROF_CLASS_COLLATE] = "collate",
		[DLPROF_CLASS_STEP] = "step",     [DLPROF_CLASS_WAIT] = "wait",
	};
	struct dlprof_op *op = &record->event->op;
	char what[80];
	struct slow_row row = {
		.ts_ns = (int64_t)record->event->begin_ns,
		.pid = record->segment->header->pid,
		.tid = record->ring->tid,
		.ns = (int64_t)record->event->duration_ns,
		.class = op->class < DLPROF_CLASS_MAX ? classes[op->class] : NULL,
		.what = what,
	};

	op->name[sizeof(op->name) - 1] = '\0';
	op->path[sizeof(op->path) - 1] = '\0';
	snprintf(what, sizeof(what), "%s%s%s", op->name, op->path[0] ? " " : "", op->path);
	return writer_slow(join->writer, &row);
}

static int take_stop(struct join *join, struct stream *stream, const struct record *record)
{
	const struct dlprof_event *event = record->event;
	const bool is_dropped = event->flags & DLPROF_FLAG_DROPPED;

	take_free(join, record->ring, event->batch.free_ns);
	if (!is_dropped)
		end_step(stream, event, record->ring);
	sampler_epoch(join->sampler, record, stream->known ? stream->loader_id : 0);
	/* After next() raised an exception, the epoch goes on: next() may be called again. */
	if (event->flags & DLPROF_FLAG_FAILED)
		return 0;
	stream->seen.stop_begin_ns = (int64_t)event->begin_ns;
	stream->seen.stop_ns = (int64_t)event->duration_ns;
	stream->seen_more = true;
	/* If another iterator follows, the last step ended with this drop: see supersede(). */
	if (is_dropped && stream->has_last && stream->last_ring == record->ring) {
		stream->dropped_ns = event->begin_ns;
		stream->dropped_waited_ns = event->batch.waited_ns;
		return 0;
	}
	stream_close(join, stream);
	return 0;
}

static int take_mark(struct join *join, const struct record *record)
{
	struct dlprof_event *event = record->event;

	event->mark[sizeof(event->mark) - 1] = '\0';
	return writer_mark(join->writer, (int64_t)event->begin_ns, record->segment->header->pid,
			   record->ring->tid,
			   event->flags & DLPROF_FLAG_RANGE
				   ? (int64_t)(event->duration_ns & INT64_MAX)
				   : UNKNOWN,
			   event->mark);
}

/* Takes a record of a stream. */
static int take_of_stream(struct join *join, const struct record *record)
{
	struct stream *stream;
	int r = find_stream(join, record->event, &stream);

	if (r < 0)
		return r;
	switch ((enum dlprof_event_kind)record->event->kind) {
	case DLPROF_EVENT_EPOCH:
		return take_epoch(join, stream, record);
	case DLPROF_EVENT_BATCH:
		return take_batch(join, stream, record);
	case DLPROF_EVENT_STOP:
		return take_stop(join, stream, record);
	case DLPROF_EVENT_WORKER:
		return note_process(join, stream, record->segment, "worker",
				    record->event->worker);
	case DLPROF_EVENT_MADE:
		take_made(stream, record->event);
		return 0;
	case DLPROF_EVENT_PARTS:
		take_parts(join, stream, record);
		return 0;
	default:
		return take_load(join, stream, record);
	}
}

int join_take(void *context, const struct record *record)
{
	struct join *join = context;
	struct segment *segment = record->segment;
	struct dlprof_event *event = record->event;

	sampler_take(join->sampler, record);
	switch ((enum dlprof_event_kind)event->kind) {
	case DLPROF_EVENT_OP:
		return take_operation(join, record);
	case DLPROF_EVENT_MARK:
		return take_mark(join, record);
	case DLPROF_EVENT_PLACE:
		event->mark[sizeof(event->mark) - 1] = '\0';
		return writer_place(join->writer, segment->header->pid,
				    facts_loader(segment, event->task), event->mark);
	case DLPROF_EVENT_GPU_OPS:
	case DLPROF_EVENT_GPU_COPIES:
	case DLPROF_EVENT_GPU_STATE:
	case DLPROF_EVENT_KERNEL:
		segment->joined.has_gpu = true;
		return gpu_join_take(&join->gpu, segment, event);
	case DLPROF_EVENT_STAGE:
	case DLPROF_EVENT_STAGE_SUM:
		return stages_take(join->writer, segment, event);
	default: /* only a damaged ring has a kind that is not in the enum */
		return event->kind > DLPROF_EVENT_NONE && event->kind < DLPROF_EVENT_KIND_MAX
			       ? take_of_stream(join, record)
			       : 0;
	}
}

static void drop_done(struct join *join)
{
	struct stream **link = &join->streams;

	while (*link) {
		struct stream *stream = *link;

		/* A worker's last records may be read a round after the end of the epoch. */
		if (stream->closed && !stream->count && join->round - stream->closed_round > 2) {
			*link = stream->next;
			stream_free(stream);
		} else {
			link = &stream->next;
		}
	}
}

static void keep_for_steps(struct join *join)
{
	for (const struct stream *stream = join->streams; stream; stream = stream->next)
		for (size_t i = 0; i < stream->count; i++)
			if (stream->entries[i].delivered)
				gpu_join_keep_from(&join->gpu, &stream->consumer,
						   (int64_t)stream->entries[i].batch.begin_ns);
}

/* Makes a loader for loads without an EPOCH record: it was lost, or nobody takes batches. */
static int adopt(struct join *join, struct stream *stream)
{
	struct loader_row row = {
		.pid = stream->consumer.pid ? stream->consumer.pid : stream->entries[0].loader.pid,
		.number = (int64_t)(stream->key & INT64_MAX),
		.workers = UNKNOWN,
		.prefetch_factor = UNKNOWN,
		.in_order = UNKNOWN,
		.persistent = UNKNOWN,
		.batch_size = UNKNOWN,
	};

	stream->known = true;
	stream->epoch = stream->generation;
	return writer_loader(join->writer, &row, &stream->loader_id);
}

int join_round(struct join *join, size_t *ret_rows)
{
	size_t before = join->rows;
	int r;

	join->now_ns = now_ns();
	for (struct stream *stream = join->streams; stream; stream = stream->next) {
		r = stream->known || stream->count <= STREAM_MOST ? 0 : adopt(join, stream);
		if (r == 0 && stream->known && stream->seen_more) {
			r = writer_epoch_seen(join->writer, stream->loader_id, stream->epoch,
					      &stream->seen);
			stream->seen_more = r < 0;
			if (r == 0)
				stream->seen.save_ns = UNKNOWN;
		}
		if (r == 0)
			r = settle_stream(join, stream);
		if (r < 0)
			return r;
	}
	keep_for_steps(join);
	r = gpu_join_round(&join->gpu, join->finishing);
	if (r < 0)
		return r;
	drop_done(join);
	join->round++;
	*ret_rows += join->rows - before;
	return 0;
}

void join_life_ended(struct join *join, const struct life *life)
{
	for (struct stream *stream = join->streams; stream; stream = stream->next) {
		if (life_is(&stream->consumer, life))
			stream_close(join, stream);
		for (size_t i = 0; i < stream->count; i++) {
			struct entry *entry = &stream->entries[i];

			if (!life_is(&entry->loader, life) || entry->delivered || entry->abandoned)
				continue;
			entry->abandoned = true;
			came_now(join, entry);
		}
	}
}

int join_finish(struct join *join)
{
	size_t rows = 0;
	int r;

	join->finishing = true;
	for (struct stream *stream = join->streams; stream; stream = stream->next) {
		stream_close(join, stream);
		r = stream->known || !stream->count ||
				    stream->generation == DLPROF_GENERATION_ANY
			    ? 0
			    : adopt(join, stream);
		if (r < 0)
			return r;
	}
	return join_round(join, &rows);
}

static void hold(const struct held *held)
{
	if (held->ring && held->position < held->ring->release)
		held->ring->release = held->position;
}

void join_release(const struct join *join, struct segment *segment)
{
	for (size_t i = 0; i < DLPROF_SLOT_COUNT; i++)
		segment->rings[i].release = segment->rings[i].read;
	for (const struct stream *stream = join->streams; stream; stream = stream->next) {
		for (size_t i = 0; i < stream->count; i++) {
			hold(&stream->entries[i].load_held);
			hold(&stream->entries[i].batch_held);
		}
	}
	for (size_t i = 0; i < DLPROF_SLOT_COUNT; i++) {
		struct ring *ring = &segment->rings[i];

		/* A nearly full ring is released before the commit: a kill now loses records. */
		if (!segment->dead && ring->head - ring->release > DLPROF_RING_CAPACITY / 4 * 3)
			ring->release = ring->read;
		/* Released records stay released, since the process may have overwritten them. */
		if (ring->release - ring->published > DLPROF_RING_CAPACITY)
			ring->release = ring->published;
	}
}

static void forget(struct held *held, const struct segment *segment)
{
	if (held->ring >= segment->rings && held->ring < segment->rings + DLPROF_SLOT_COUNT)
		held->ring = NULL;
}

void join_forget(struct join *join, const struct segment *segment)
{
	for (struct stream *stream = join->streams; stream; stream = stream->next) {
		for (size_t i = 0; i < stream->count; i++) {
			forget(&stream->entries[i].load_held, segment);
			forget(&stream->entries[i].batch_held, segment);
		}
	}
}
