/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hammer_drain.c - the drain's reader in the producers' process: its functions have the names of
 * the shim's, so it is included here under others.
 */
#define segment_open	 drain_segment_open
#define segment_close	 drain_segment_close
#define segment_poll	 drain_segment_poll
#define segment_refresh	 drain_segment_refresh
#define segment_read	 drain_segment_read
#define segment_publish	 drain_segment_publish
#define segment_is_empty drain_segment_is_empty
#define segment_beat	 drain_segment_beat
#include "drain/segments/alive.c"
#include "drain/segments/segment.c"

#include <dirent.h>

#include "hammer.h"

static int take(void *context, const struct record *record)
{
	uint32_t *next = context;

	hammer_check(record->event, record->ring->tid,
		     &next[record->ring - record->segment->rings]);
	return 0;
}

static struct segment *open_only(const char *path)
{
	struct segment *segment = NULL;
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && !segment && (entry = readdir(folder)))
		if (strstr(entry->d_name, DLPROF_SEGMENT_SUFFIX))
			segment_open(dirfd(folder), entry->d_name, &segment);
	closedir(folder);
	hammer_demand(segment, "a segment to read");
	return segment;
}

uint64_t hammer_drain(const char *folder, const _Atomic bool *done)
{
	struct segment *segment = open_only(folder);
	uint32_t next[DLPROF_SLOT_COUNT] = {0};
	size_t taken = 0;
	bool last;

	do {
		last = *done;
		hammer_demand(segment_read(segment, take, next, &taken) == 0, "the drain reads");
		for (int i = 0; i < DLPROF_SLOT_COUNT; i++)
			segment->rings[i].release = segment->rings[i].read;
		hammer_demand(segment_publish(segment, false) == 0, "the drain publishes");
	} while (!last);
	hammer_demand(segment_is_empty(segment), "the drain has read all");
	segment_close(segment);
	return taken;
}
