/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/stream.h"

#include <stdlib.h>
#include <string.h>

/* Place of the first entry whose task is not below. */
static size_t entry_place(const struct stream *stream, uint32_t task)
{
	size_t low = 0, high = stream->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (stream->entries[middle].task < task)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct entry *entry_find(struct stream *stream, uint32_t task)
{
	size_t place = entry_place(stream, task);

	if (place < stream->count && stream->entries[place].task == task)
		return &stream->entries[place];
	return NULL;
}

struct entry *entry_make(struct stream *stream, uint32_t task)
{
	size_t place = entry_place(stream, task);
	struct entry *entry;

	if (place < stream->count && stream->entries[place].task == task)
		return &stream->entries[place];
	if (stream->count == stream->capacity) {
		size_t capacity = stream->capacity ? stream->capacity * 2 : 64;
		struct entry *grown = realloc(stream->entries, capacity * sizeof(*grown));

		if (!grown)
			return NULL;
		stream->entries = grown;
		stream->capacity = capacity;
	}
	entry = &stream->entries[place];
	memmove(entry + 1, entry, (stream->count - place) * sizeof(*entry));
	memset(entry, 0, sizeof(*entry));
	entry->task = task;
	stream->count++;
	return entry;
}

void entry_remove(struct stream *stream, struct entry *entry)
{
	stream->count--;
	memmove(entry, entry + 1,
		(size_t)(stream->entries + stream->count - entry) * sizeof(*entry));
}

void stream_close(const struct join *join, struct stream *stream)
{
	if (!stream->closed)
		stream->closed_round = join->round;
	stream->closed = true;
}
