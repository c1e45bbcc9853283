/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "drain/state.h"

#include "analysis/statistics/array.h"

#define NOTED_MOST  50
#define LOST_ROUNDS 5 /* the folder is noted as lost when it is missing in this many listings */

static bool is_open(const struct drain *drain, const char *name)
{
	for (size_t i = 0; i < drain->count; i++)
		if (!drain->segments[i]->apart && strcmp(drain->segments[i]->name, name) == 0)
			return true;
	return false;
}

/*
 * Returns true while a process of the run records. If the first process has no readable segment,
 * its pid is taken from the folder's name.
 */
bool gather_is_live(const struct drain *drain)
{
	bool has_root = false;

	for (size_t i = 0; i < drain->count; i++) {
		if (!drain->segments[i]->dead)
			return true;
		has_root |= drain->segments[i]->header->flags & DLPROF_SEGMENT_ROOT;
	}
	return !has_root && folder_has_root(drain->folder.path);
}

int gather_leave(struct drain *drain, const char *name, int error)
{
	char text[5000];
	struct folder *folder = &drain->folder;
	int r = folder_leave(folder, name, error == -EBADMSG, 0);

	if (r < 0 || folder->left_count > NOTED_MOST)
		return r;
	snprintf(text, sizeof(text), "%s/%s was left where it is: it is %s", folder->path, name,
		 error == -EBADMSG ? "damaged or of another version, and what it holds is missing"
				   : "no segment of this run");
	return drain->writer ? writer_note(drain->writer, "warning", text) : 0;
}

/* If both segments belong to lives of one process, notes that the earlier life has ended. */
static void order_lives(struct segment *one, struct segment *other)
{
	const struct dlprof_header *a = one->header, *b = other->header;
	struct segment *earlier = a->created_ns < b->created_ns ? one : other;
	const uint64_t later_ns = earlier == one ? b->created_ns : a->created_ns;

	if (a->pid != b->pid || !a->start_ticks || a->start_ticks != b->start_ticks ||
	    a->pid_space != b->pid_space || a->created_ns == b->created_ns ||
	    (earlier->later_ns && earlier->later_ns <= later_ns))
		return;
	earlier->later_ns = later_ns;
	earlier->told.ended = false; /* its end is written again: another life followed this one */
}

static int add_segment(const struct folder *folder, const char *name, void *context)
{
	struct segment *segment;
	struct drain *drain = context;
	int r;

	if (is_open(drain, name))
		return 0;
	r = segment_open(folder->fd, name, &segment);
	if (r == -EBADMSG || r == -EPERM)
		return gather_leave(drain, name, r);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (!ARRAY_GROW(drain->segments, drain->count)) {
		segment_close(segment);
		return -ENOMEM;
	}
	for (size_t i = 0; i < drain->count; i++)
		order_lives(drain->segments[i], segment);
	drain->segments[drain->count++] = segment;
	drain->opened++;
	return facts_begin(drain->writer, segment, folder->path);
}

static int note_lost(struct drain *drain, const char *then)
{
	char text[5000];

	snprintf(text, sizeof(text),
		 "the folder of segments %s was removed while the run recorded, and %s",
		 drain->folder.path, then);
	return writer_note(drain->writer, "warning", text);
}

/* Makes the folder again if it was removed. Open segments of the old folder are still read. */
static int follow_folder(struct drain *drain)
{
	struct folder folder;
	int r = folder_restore(&folder, drain->folder.path);

	if (r < 0) {
		if (r == -EWOULDBLOCK || ++drain->folder.lost_rounds != LOST_ROUNDS)
			return 0;
		return note_lost(drain, "cannot be made again: what began since is missing");
	}
	folder_close(&drain->folder);
	drain->folder = folder;
	for (size_t i = 0; i < drain->count; i++)
		drain->segments[i]->apart = true;
	return note_lost(drain, "made again: what began just then may be missing");
}

int gather(struct drain *drain, bool now)
{
	int due = folder_due(&drain->folder);

	if (due < 0)
		return gather_is_live(drain) ? follow_folder(drain) : 0;
	return due || now ? folder_scan(&drain->folder, add_segment, drain) : 0;
}

void gather_drop(struct drain *drain, size_t index)
{
	join_forget(drain->join, drain->segments[index]);
	segment_close(drain->segments[index]);
	drain->segments[index] = drain->segments[--drain->count];
}

bool gather_is_life_live(const struct drain *drain, const struct life *life)
{
	for (size_t i = 0; i < drain->count; i++) {
		const struct life other = segment_life(drain->segments[i]);

		if (life_is(&other, life) && !drain->segments[i]->dead)
			return true;
	}
	return false;
}
