/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "drain/drain.h"
#include "drain/folder.h"
#include "drain/link.h"
#include "store/db.h"
#include "store/query.h"

#define LOOK_MS	 50
#define WAIT_MS	 5000	/* for a drain that is finishing */
#define START_MS 1000	/* for a process that is starting a run, and cannot be seen from here */

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

/* A drain that was killed while it closed the database has stored all; its journal is left. */
static void close_database(const char *database)
{
	struct db *db;

	if (!is_empty(database) && db_open_write(database, &db) == 0)
		db_close(db);
}

/* Whether it was recorded to its end on this machine. */
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
		finished = run.end_ns != QUERY_UNKNOWN && run.host &&
			   strcmp(run.host, machine.nodename) == 0;
		run_info_done(&run);
	}
	db_close(db);
	return finished;
}

/*
 * A run that has no segment is over, or was killed before it had one, or is about to have it. One
 * that stored something, and whose folder is not here, may go on, or have ended, elsewhere.
 */
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

/* One try. True: *ret is the result. */
static bool try(const char *path, const char *database, int waited_ms, int *ret, bool *ret_live)
{
	struct folder folder;
	bool done;

	*ret = folder_lock(&folder, path);
	if (*ret == 0 && folder_has_segments(&folder)) {
		*ret = drain_take_over(&folder, database, ret_live);
		return true;
	}
	if (*ret == 0 || *ret == -ENOENT) {
		done = tidy(*ret ? NULL : &folder, path, database, waited_ms, ret_live);
		if (*ret == 0)
			folder_close(&folder);
		*ret = 0;
		return done;
	}
	if (*ret != -EWOULDBLOCK)
		return true;
	*ret = 0;
	*ret_live = folder_is_recorded_into(path);
	return *ret_live || waited_ms >= WAIT_MS;
}

int drain_recover(const char *database, bool *ret_live)
{
	char path[4096];
	int r;

	*ret_live = false;
	r = link_find(database, path, sizeof(path));
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (int waited_ms = 0; !try(path, database, waited_ms, &r, ret_live);
	     waited_ms += LOOK_MS)
		poll(NULL, 0, LOOK_MS);
	return r;
}
