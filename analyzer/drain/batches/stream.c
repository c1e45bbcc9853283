/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/batches/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/array.h"

static size_t entry_place(const struct stream *stream, uint32_t task)
{
	return ARRAY_PLACE(stream->count, i, stream->entries[i].task < task);
}

struct entry *entry_find(struct stream *stream, uint32_t task)
{
	size_t place = entry_place(stream, task);

	if (place < stream->count && stream->entries[place].task == task)
		return &stream->entries[place];
	return NULL;
}

/* Makes room at the end: moves the entries to the front, or allocates a larger array. */
static int make_room(struct stream *stream)
{
	bool enough = stream->room && stream->room >= stream->count;
	struct entry *grown;
	size_t capacity;

	if (stream->room) {
		stream->entries = memmove(stream->entries - stream->room, stream->entries,
					  stream->count * sizeof(*stream->entries));
		stream->capacity += stream->room;
		stream->room = 0;
	}
	if (enough)
		return 0;
	capacity = stream->capacity ? stream->capacity * 2 : 64;
	grown = realloc(stream->entries, capacity * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	stream->entries = grown;
	stream->capacity = capacity;
	return 0;
}

struct entry *entry_make(struct stream *stream, uint32_t task)
{
	size_t place = entry_place(stream, task);
	struct entry *entry;

	if (place < stream->count && stream->entries[place].task == task)
		return &stream->entries[place];
	if (stream->count == stream->capacity && make_room(stream) < 0)
		return NULL;
	entry = &stream->entries[place];
	memmove(entry + 1, entry, (stream->count - place) * sizeof(*entry));
	memset(entry, 0, sizeof(*entry));
	entry->task = task;
	stream->count++;
	return entry;
}

void entry_remove(struct stream *stream, struct entry *entry)
{
	memmove(stream->entries + 1, stream->entries,
		(size_t)(entry - stream->entries) * sizeof(*entry));
	stream->entries++;
	stream->room++;
	stream->count--;
	stream->capacity--;
}

struct stream *stream_new(uint64_t key, uint32_t generation)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->key = key;
	stream->generation = generation;
	stream->in_order = true;
	stream->seen = (struct epoch_seen){UNKNOWN, UNKNOWN, UNKNOWN,
					   UNKNOWN, UNKNOWN};
	stream->place.workers = -1;
	return stream;
}

void stream_free(struct stream *stream)
{
	if (stream->entries)
		free(stream->entries - stream->room);
	free(stream);
}

void stream_end_step(struct stream *stream, uint64_t end_ns, uint64_t waited_ns)
{
	struct entry *last = stream->has_last ? entry_find(stream, stream->last_task) : NULL;

	stream->has_last = false;
	if (!last)
		return;
	last->stepped = true;
	last->step_end_ns = end_ns;
	last->waited_end_ns = waited_ns;
}

void stream_leave(struct stream *stream)
{
	struct entry *last = stream->has_last ? entry_find(stream, stream->last_task) : NULL;

	if (stream->left_ns)
		stream_end_step(stream, stream->left_ns, stream->left_waited_ns);
	else if (last)
		last->over = true;
	stream->has_last = false;
}

void stream_close(const struct join *join, struct stream *stream)
{
	if (stream->left_ns)
		stream_leave(stream);
	if (!stream->closed)
		stream->closed_round = join->round;
	stream->closed = true;
}
