/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/drain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drain/cores.h"
#include "drain/facts.h"
#include "drain/hidden.h"
#include "drain/join.h"
#include "drain/now.h"
#include "drain/segment.h"
#include "drain/stacks.h"
#include "drain/tally.h"

#define MS UINT64_C(1000000)

#define ROUND_MS   100		/* between two looks at the rings */
#define HURRY_MS   2		/* ... at the least, while they fill fast */
#define SCAN_MS	   1000		/* between two looks at the folder, if its time has not changed */
#define FRESH_MS   3000		/* so coarse may that be */
#define TALLY_MS   2000		/* totals by name, which are safe where they are */
#define TALLY_MOST_MS 10000	/* ... less often in a long run */
#define TALLY_PART 10		/* of its time */
#define STACKS_MS  500		/* and then at most STACKS_MOST, and STACKS_PART of the time */
#define STACKS_PART 200
#define COMMIT_MS  500		/* a row is in the database within a second */
#define RETRY_MS   1000		/* after an error of the database */
#define STACKS_MOST 2
#define GIVE_UP_MS 10000	/* ... once nobody records any more */
#define WAIT_MS	   5000		/* for a drain that is finishing */

struct drain {
	const char *database;
	const char *path;		/* of the folder of segments */
	int folder;			/* locked: one reader at a time */
	struct segment **segments;
	size_t count;
	struct db *db;
	struct writer *writer;
	struct join *join;
	bool in_transaction;
	uint64_t begun_ns;		/* the transaction */
	uint64_t started_ns;
	uint64_t tallied_ns;
	uint64_t stacks_ns;		/* when to take the next ones */
	uint64_t scanned_ns;		/* the last look at the folder; 0: look */
	uint64_t changed_ns;		/* when its time was seen to have changed */
	struct timespec changed;	/* to this */
	uint64_t end_ns;		/* the newest end of a process */
	bool over;			/* the run is, and its folder is gone */
	int wait_ms;			/* until the next round */
	size_t taken;			/* records in this round */
	size_t uncommitted;		/* records since the last commit */
	struct cores cores;
	struct facts facts;
};

static bool ends_with(const char *name, const char *suffix)
{
	size_t length = strlen(name), size = strlen(suffix);

	return length > size && strcmp(name + length - size, suffix) == 0;
}

static bool is_segment_name(const char *name)
{
	return ends_with(name, DLPROF_SEGMENT_SUFFIX);
}

static bool is_open(const struct drain *drain, const char *name)
{
	for (size_t i = 0; i < drain->count; i++)
		if (strcmp(drain->segments[i]->name, name) == 0)
			return true;
	return false;
}

/* Out of the way of every later look, for somebody to look into. */
static int set_aside(struct drain *drain, const char *name)
{
	char aside[300], text[400];

	snprintf(aside, sizeof(aside), "%s.damaged", name);
	renameat(drain->folder, name, drain->folder, aside);
	snprintf(text, sizeof(text), "the segment %s/%s is damaged or of another version: what it "
		 "holds is lost", drain->path, aside);
	return drain->writer ? writer_note(drain->writer, "warning", text) : 0;
}

static int add_segment(struct drain *drain, const char *name)
{
	struct segment **grown, *segment;
	int r;

	r = segment_open(drain->folder, name, &segment);
	if (r == -EBADMSG)
		return set_aside(drain, name);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	grown = realloc(drain->segments, (drain->count + 1) * sizeof(*grown));
	if (!grown) {
		segment_close(segment);
		return -ENOMEM;
	}
	drain->segments = grown;
	drain->segments[drain->count++] = segment;
	return facts_begin(drain->writer, segment, drain->path);
}

/* Ten looks a second at what hardly ever changes would be a third of all that the drain does. */
static bool is_scan_due(struct drain *drain)
{
	uint64_t now = now_ns();
	struct stat status;

	if (fstat(drain->folder, &status) < 0)
		return true;
	if (status.st_mtim.tv_sec != drain->changed.tv_sec ||
	    status.st_mtim.tv_nsec != drain->changed.tv_nsec) {
		drain->changed = status.st_mtim;
		drain->changed_ns = now;
	}
	if (drain->scanned_ns && now - drain->changed_ns > FRESH_MS * MS &&
	    now - drain->scanned_ns < SCAN_MS * MS)
		return false;
	drain->scanned_ns = now;
	return true;
}

static int scan_folder(struct drain *drain)
{
	int fd = openat(drain->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!folder) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	while (r == 0 && (entry = readdir(folder)))
		if (is_segment_name(entry->d_name) && !is_open(drain, entry->d_name))
			r = add_segment(drain, entry->d_name);
	closedir(folder);
	return r;
}

static int open_store(struct drain *drain)
{
	int r = 0;

	if (!drain->db)
		r = db_open_write(drain->database, &drain->db);
	if (r == 0 && !drain->writer)
		r = writer_open(drain->db, &drain->writer);
	if (r == 0 && !drain->join)
		r = join_open(drain->writer, &drain->join);
	return r;
}

/* After an error nothing in memory is to be trusted; the rings and the database still are. */
static void close_store(struct drain *drain)
{
	if (drain->in_transaction)
		db_rollback(drain->db);
	drain->in_transaction = false;
	join_close(drain->join);
	writer_close(drain->writer);
	db_close(drain->db);
	drain->join = NULL;
	drain->writer = NULL;
	drain->db = NULL;
	for (size_t i = 0; i < drain->count; i++)
		segment_close(drain->segments[i]);
	drain->count = 0;
	drain->scanned_ns = 0;
}

static bool is_tally_due(struct drain *drain)
{
	uint64_t now = now_ns(), pause = (now - drain->started_ns) / TALLY_PART;

	if (pause < TALLY_MS * MS)
		pause = TALLY_MS * MS;
	if (pause > TALLY_MOST_MS * MS)
		pause = TALLY_MOST_MS * MS;
	if (now - drain->tallied_ns < pause)
		return false;
	drain->tallied_ns = now;
	return true;
}

static int commit(struct drain *drain)
{
	bool tally = is_tally_due(drain);
	int r = 0;

	for (size_t i = 0; r == 0 && i < drain->count; i++) {
		join_release(drain->join, drain->segments[i]);
		r = facts_update(&drain->facts, drain->writer, drain->segments[i], now_ns());
		if (r == 0)
			r = hidden_look(drain->writer, drain->segments[i], now_ns());
		if (r == 0 && (tally || drain->segments[i]->dead))
			r = tally_update(drain->writer, drain->segments[i]);
	}
	if (r == 0)
		r = cores_update(&drain->cores, drain->writer, drain->segments, drain->count,
				 now_ns());
	if (r == 0)
		r = db_commit(drain->db);
	if (r < 0)
		return r;
	drain->in_transaction = false;
	drain->uncommitted = 0;
	for (size_t i = 0; i < drain->count; i++) {
		r = segment_publish(drain->segments[i], true);
		if (r < 0)
			return r;
	}
	return 0;
}

static void drop_segment(struct drain *drain, size_t index)
{
	join_forget(drain->join, drain->segments[index]);
	segment_close(drain->segments[index]);
	drain->segments[index] = drain->segments[--drain->count];
}

/* Segments of processes that ended and whose records are all in the database. */
static void remove_done(struct drain *drain)
{
	for (size_t i = drain->count; i-- > 0;) {
		const struct segment *segment = drain->segments[i];

		/* The root's stays to the last: it tells what run this is. */
		if (!segment->dead || !segment->ended_noted || !segment_is_empty(segment) ||
		    (segment->header->flags & DLPROF_SEGMENT_ROOT))
			continue;
		unlinkat(drain->folder, segment->name, 0);
		drop_segment(drain, i);
	}
}

static bool is_pid_recording(const struct drain *drain, int32_t pid)
{
	for (size_t i = 0; i < drain->count; i++)
		if (drain->segments[i]->header->pid == pid && !drain->segments[i]->dead)
			return true;
	return false;
}

static bool is_anyone_recording(const struct drain *drain)
{
	for (size_t i = 0; i < drain->count; i++)
		if (!drain->segments[i]->dead)
			return true;
	return false;
}

static int read_segment(struct drain *drain, struct segment *segment)
{
	bool ended = segment_poll(segment);	/* before the read, so that it reads all */
	int r;

	r = segment_read(segment, join_take, drain->join, &drain->taken);
	if (r < 0)
		return r;
	if (segment->header->flags & DLPROF_SEGMENT_ROOT)
		segment_beat(segment, now_ns());
	if (ended) {
		drain->end_ns = now_ns();
		if (!is_pid_recording(drain, segment->header->pid))
			join_process_ended(drain->join, segment->header->pid);
	}
	return 0;
}

static int read_rings(struct drain *drain)
{
	for (size_t i = drain->count; i-- > 0;) {
		int r = read_segment(drain, drain->segments[i]);

		if (r == -EBADMSG) {	/* cut short under our hands */
			r = set_aside(drain, drain->segments[i]->name);
			drop_segment(drain, i);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* While their processes live: the modules are found through them. */
static int take_stacks(struct drain *drain)
{
	uint64_t begin = now_ns(), begin_cpu = cpu_ns(), cost;
	int left = STACKS_MOST, done, r = 0;

	if (begin < drain->stacks_ns)
		return 0;
	for (size_t i = 0; r == 0 && left > 0 && i < drain->count; i++) {
		if (drain->segments[i]->dead)
			continue;
		r = stacks_take(drain->writer, drain->segments[i], left, &done);
		left -= done;
	}
	cost = cpu_ns() - begin_cpu;
	drain->stacks_ns =
		begin + (cost > STACKS_MS * MS / STACKS_PART ? cost * STACKS_PART : STACKS_MS * MS);
	return r;
}

/* As if all records came from one ring: that one must not be full before the next look. */
static void set_pace(struct drain *drain)
{
	drain->uncommitted += drain->taken;
	if (drain->taken > DLPROF_RING_CAPACITY / 8)
		drain->wait_ms /= 4;
	else if (drain->taken < DLPROF_RING_CAPACITY / 32)
		drain->wait_ms *= 2;
	if (drain->wait_ms < HURRY_MS)
		drain->wait_ms = HURRY_MS;
	if (drain->wait_ms > ROUND_MS)
		drain->wait_ms = ROUND_MS;
}

static bool is_commit_due(const struct drain *drain)
{
	return drain->uncommitted > DLPROF_RING_CAPACITY / 4 ||
	       now_ns() - drain->begun_ns >= COMMIT_MS * MS;
}

/* One look at everything; what became complete is committed if it is time, or if `now`. */
static int do_round(struct drain *drain, bool now)
{
	size_t rows = 0;
	int r;

	drain->taken = 0;
	r = open_store(drain);
	if (r == 0 && !drain->in_transaction) {
		r = db_begin(drain->db);
		drain->in_transaction = r == 0;
		drain->begun_ns = now_ns();
	}
	if (r == 0 && (is_scan_due(drain) || now))
		r = scan_folder(drain);
	if (r == 0)
		r = read_rings(drain);
	if (r == 0)
		r = take_stacks(drain);
	if (r == 0)
		r = join_round(drain->join, &rows);
	set_pace(drain);
	if (r == 0 && (now || is_commit_due(drain))) {
		r = commit(drain);
		if (r == 0)
			remove_done(drain);
	}
	return r;
}

/* Until somebody ends, or the time for the next look has come. */
static void wait_for_round(const struct drain *drain, int ms)
{
	struct pollfd *ends = calloc(drain->count + 1, sizeof(*ends));
	nfds_t count = 0;

	for (size_t i = 0; ends && i < drain->count; i++)
		if (!drain->segments[i]->dead && drain->segments[i]->pidfd >= 0)
			ends[count++] = (struct pollfd){drain->segments[i]->pidfd, POLLIN, 0};
	poll(ends, count, ms);
	free(ends);
}

static void link_path(const char *database, char *path, size_t size)
{
	snprintf(path, size, "%s-segments", database);
}

/* Whether there is a segment; removes what a process that died on the way to one left. */
static bool has_segments(const struct drain *drain)
{
	DIR *folder = opendir(drain->path);
	struct dirent *entry;
	bool found = false;

	while (folder && (entry = readdir(folder))) {
		found = found || is_segment_name(entry->d_name);
		if (ends_with(entry->d_name, DLPROF_SEGMENT_UNFINISHED))
			unlinkat(drain->folder, entry->d_name, 0);
	}
	if (folder)
		closedir(folder);
	return found;
}

/*
 * Removes what is left of the run. False: a process joined it just now. A segment that was set
 * aside keeps the folder, and that is all.
 */
static bool remove_folder(const struct drain *drain)
{
	char link[4200];

	if (has_segments(drain))
		return false;
	if (rmdir(drain->path) < 0 && has_segments(drain))
		return false;
	link_path(drain->database, link, sizeof(link));
	unlink(link);
	return true;
}

/* Nobody records any more: write what is left, tidy up. */
static int finish(struct drain *drain)
{
	int r;

	r = do_round(drain, true);
	if (r < 0 || is_anyone_recording(drain))
		return r;
	r = db_begin(drain->db);
	if (r < 0)
		return r;
	drain->in_transaction = true;
	r = join_finish(drain->join);
	if (r == 0)
		r = facts_finish(drain->writer, drain->db,
				 drain->end_ns ? drain->end_ns : now_ns());
	if (r == 0)
		r = commit(drain);
	if (r < 0)
		return r;
	for (size_t i = 0; i < drain->count; i++)
		unlinkat(drain->folder, drain->segments[i]->name, 0);
	/* Before the folder goes: who sees it gone may count on one plain file. */
	close_store(drain);
	drain->over = remove_folder(drain);
	return 0;
}

static int lock_folder(struct drain *drain)
{
	drain->folder = open(drain->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (drain->folder < 0)
		return -errno;
	if (flock(drain->folder, LOCK_EX | LOCK_NB) < 0) {
		int r = -errno;

		close(drain->folder);
		return r;
	}
	return 0;
}

/* Looked at without the lock, and whatever is in memory. */
static bool is_recorded_into(const char *path)
{
	DIR *folder = opendir(path);
	struct segment *segment;
	struct dirent *entry;
	bool recording = false;

	while (folder && !recording && (entry = readdir(folder))) {
		if (!is_segment_name(entry->d_name) ||
		    segment_open(dirfd(folder), entry->d_name, &segment) < 0)
			continue;
		segment_poll(segment);
		recording = !segment->dead;
		segment_close(segment);
	}
	if (folder)
		closedir(folder);
	return recording;
}

int drain_run(const char *segment_dir, const char *database)
{
	struct drain drain = {
		.database = database, .path = segment_dir, .started_ns = now_ns()};
	uint64_t failing_ns = 0;
	int r;

	r = lock_folder(&drain);
	if (r < 0)
		return r;
	while (!drain.over) {
		r = do_round(&drain, false);
		if (r == 0 && !is_anyone_recording(&drain))
			r = finish(&drain);
		if (r == 0) {
			failing_ns = 0;
			wait_for_round(&drain, drain.wait_ms);
			continue;
		}
		/* A full disk may have room again: the rings keep what they can hold. */
		if (!failing_ns)
			failing_ns = now_ns();
		if (now_ns() - failing_ns > GIVE_UP_MS * MS && !is_recorded_into(drain.path))
			break;
		close_store(&drain);
		wait_for_round(&drain, RETRY_MS);
	}
	close_store(&drain);
	free(drain.segments);
	close(drain.folder);
	return r;
}

/* With the lock held: another drain ended before its time. */
static int take_over(struct drain *drain, bool *ret_live)
{
	int r;

	hidden_begin();
	r = do_round(drain, false);
	if (r == 0)
		r = do_round(drain, true);	/* a batch is complete in the round after its own */
	if (r == 0) {
		*ret_live = is_anyone_recording(drain);
		if (!*ret_live)
			r = finish(drain);
	}
	close_store(drain);
	free(drain->segments);
	close(drain->folder);
	return r;
}

/* The folder of segments; false: the run is over. */
static bool find_folder(const char *database, char *folder, size_t size)
{
	char link[4200];
	ssize_t length;

	link_path(database, link, sizeof(link));
	length = readlink(link, folder, size - 1);
	if (length <= 0)
		return false;
	folder[length] = '\0';
	return true;
}

bool drain_is_live(const char *database)
{
	char folder[4096];

	return find_folder(database, folder, sizeof(folder)) && is_recorded_into(folder);
}

int drain_recover(const char *database, bool *ret_live)
{
	struct drain drain = {.database = database, .started_ns = now_ns()};
	char folder[4096];
	int r;

	*ret_live = false;
	if (!find_folder(database, folder, sizeof(folder)))
		return 0;
	drain.path = folder;
	for (int waited_ms = 0;; waited_ms += 50) {
		r = lock_folder(&drain);
		if (r == -ENOENT)
			return 0;	/* done, or on another machine */
		if (r == 0)
			return take_over(&drain, ret_live);
		if (r != -EWOULDBLOCK)
			return r;
		*ret_live = is_recorded_into(folder);
		if (*ret_live || waited_ms >= WAIT_MS)
			return 0;
		poll(NULL, 0, 50);
	}
}
