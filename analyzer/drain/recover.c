/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "drain/drain.h"
#include "drain/segments/folder.h"
#include "drain/database/home.h"
#include "drain/segments/segment.h"
#include "store/database/db_open.h"
#include "store/run/query.h"

#define LOOK_MS	 50
#define WAIT_MS	 5000
/* how long to wait: perhaps a process that is not visible from here is just starting the run */
#define START_MS 1000

bool drain_is_live(const char *database)
{
	char path[4096];

	return link_find(database, path, sizeof(path)) == 0 && folder_is_recorded_into(path);
}

static bool is_empty(const char *database)
{
	struct stat status;

	return stat(database, &status) == 0 && !status.st_size;
}

/* Merges the database's write-ahead log, which a killed drain has left. */
static void close_database(const char *database)
{
	struct db *db;

	if (!is_empty(database) && db_open_write(database, &db) == 0)
		db_close(db);
}

static bool is_finished_here(const char *database)
{
	struct utsname machine;
	struct run_info run;
	struct db *db;
	bool finished;

	if (uname(&machine) < 0 || db_open_read(database, &db) < 0)
		return false;
	finished = query_run(db, &run) == 0;
	if (finished) {
		finished = run.end_ns != UNKNOWN && run.host &&
			   strcmp(run.host, machine.nodename) == 0;
		run_info_done(&run);
	}
	db_close(db);
	return finished;
}

/* Removes the run's folder and link unless its first process lives. False: a run may just start. */
static bool tidy(struct folder *folder, const char *path, const char *database, int waited_ms,
		 bool *ret_live)
{
	*ret_live = folder_has_root(path);
	if (*ret_live)
		return true;
	if (is_empty(database) && waited_ms < START_MS)
		return false;
	if (folder) {
		close_database(database);
		folder_remove(folder, database);
	} else if (is_empty(database) || is_finished_here(database)) {
		link_remove(database, path);
	}
	return true;
}

static int bring_home(const char *path, const char *database)
{
	struct home home;

	home_init(&home, database, path);
	return home_finish(&home);
}

static bool try(const char *path, const char *database, int waited_ms, int *ret_r,
		struct recovered *ret)
{
	struct folder folder;
	bool done;
	int r = folder_lock(&folder, path);

	*ret_r = 0;
	if (r == 0 && folder_has_segments(&folder)) {
		*ret_r = drain_take_over(&folder, database, ret);
		return true;
	}
	if (r == 0 && !folder_has_root(path))
		ret->kept = bring_home(path, database);
	if (r == 0 || r == -ENOENT) {
		done = ret->kept || tidy(r ? NULL : &folder, path, database, waited_ms, &ret->live);
		if (r == 0)
			folder_close(&folder);
		return done;
	}
	*ret_r = r == -EWOULDBLOCK ? 0 : r;
	if (r != -EWOULDBLOCK)
		return true;
	ret->live = folder_is_recorded_into(path);
	/* A drain that has held the lock for this long cannot store its records. */
	if (!ret->live && waited_ms >= WAIT_MS)
		*ret_r = -EBUSY;
	return ret->live || *ret_r;
}

static int ignore(void *context, const struct record *record)
{
	return 0;
}

static int count(const struct folder *folder, const char *name, void *context)
{
	int64_t *records = context;
	struct segment *segment;
	size_t unread = 0;

	if (segment_open(folder->fd, name, &segment) < 0)
		return 0;
	if (segment_read(segment, ignore, NULL, &unread) == 0)
		*records += (int64_t)unread;
	for (size_t i = 0; i < DLPROF_SLOT_COUNT; i++)
		*records += (int64_t)(segment->rings[i].lost_count & INT32_MAX);
	segment_close(segment);
	return 0;
}

static int64_t count_missing(const char *path)
{
	struct folder folder;
	int64_t records = 0;

	if (folder_look(&folder, path) < 0)
		return 0;
	folder_scan(&folder, count, &records);
	folder_close(&folder);
	return records;
}

int drain_recover(const char *database, struct recovered *ret)
{
	char path[4096];
	int r;

	*ret = (struct recovered){0};
	r = link_find(database, path, sizeof(path));
	ret->is_home = r == -ENOENT;
	if (r < 0)
		return ret->is_home ? 0 : r;
	for (int waited_ms = 0; !try(path, database, waited_ms, &r, ret); waited_ms += LOOK_MS)
		poll(NULL, 0, LOOK_MS);
	if (r < 0 && !ret->live)
		ret->missing_count = count_missing(path);
	return r;
}
