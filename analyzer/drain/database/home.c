/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/database/home.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "drain/base/now.h"
#include "drain/segments/folder.h"
#include "drain/segments/trust.h"
#include "store/database/copy.h"
#include "store/database/db_open.h"
#include "store/database/door.h"
#include "store/run/query.h"

/* pauses between deliveries; the first are short, as the end of a container may kill the drain */
#define LEAST_NS  UINT64_C(2000000000)
#define MOST_NS	  UINT64_C(60000000000)
#define PART_TIME 10 /* the pause is 1/10 of the time since the first delivery */

struct told {
	int error;
	char name[DELIVER_PATH];
};

void home_init(struct home *home, const char *target, const char *folder)
{
	*home = (struct home){.target = target};
	snprintf(home->local, sizeof(home->local), "%s/" TRUST_DATABASE, folder);
}

static bool has_bytes(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
}

static void run_id(struct db *db, char *ret, size_t size)
{
	struct run_info run;

	if (query_run(db, &run) < 0)
		return;
	snprintf(ret, size, "%s", run.id ? run.id : "");
	run_info_done(&run);
}

int home_open(struct home *home, struct db **ret_db)
{
	struct stat status;
	int r;

	/* A restarted drain uses the database in the local folder if there is one: it is newer. */
	if (!home->was_open && !home->is_local)
		home->is_local = has_bytes(home->local) ||
				  (door_is_remote(home->target) && !has_bytes(home->target));
	if (home->is_local && *home->delivered && !has_bytes(home->local))
		copy_database(home->delivered, home->local);
	/* If the user removed the target, it is not made again. */
	if (!home->is_local && lstat(home->target, &status) < 0)
		return -errno;
	r = db_open_write(home->is_local ? home->local : home->target, ret_db);
	/* If the local folder has no room for a database, the target is used. */
	if (r < 0 && home->is_local && !has_bytes(home->local) &&
	    db_open_write(home->target, ret_db) == 0) {
		home->is_local = false;
		r = 0;
	}
	home->was_open |= r == 0;
	return r;
}

static void empty_target(const struct home *home)
{
	struct stat status;
	int fd = open(home->target, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && status.st_uid == geteuid() && ftruncate(fd, 0) == 0)
		copy_remove_beside(home->target);
	close(fd);
}

/* Returns true if the local copy is a database of dlprof. Removes any other file. */
static bool is_ours(const struct home *home)
{
	struct db *db;
	int r = db_open_write(home->local, &db);

	if (r == 0)
		db_close(db);
	else
		unlink(home->local);
	return r == 0;
}

void home_failed(struct home *home, int error)
{
	bool had_bytes = has_bytes(home->target);

	home->error = error;
	/* A database that is locked for a while, or was removed, is not copied. */
	if (home->is_local || error == -ENOMEM || (error == -EBUSY && home->was_open) ||
	    access(home->target, F_OK) < 0)
		return;
	if (had_bytes && copy_database(home->target, home->local) < 0)
		return;
	home->is_local = true;
	home->was_open = false;
	home->due_ns = 0;
	if (!had_bytes || is_ours(home))
		empty_target(home);
}

static void carry(const struct parcel *parcel, struct told *told)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	told->error = deliver(parcel, told->name);
	_exit(0);
}

static void take_answer(struct home *home, const struct told *told)
{
	home->error = told->error;
	if (told->error == 0)
		snprintf(home->delivered, sizeof(home->delivered), "%s", told->name);
}

/* Starts a delivery. The log was just merged, and nothing is written until the child ends. */
static void send(struct home *home, struct db *db)
{
	const struct parcel parcel = {home->local, home->target, home->run_id, false};

	if (!*home->run_id)
		run_id(db, home->run_id, sizeof(home->run_id));
	if (!home->told) {
		home->told = mmap(NULL, sizeof(*home->told), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (home->told == MAP_FAILED)
			home->told = NULL;
	}
	if (!home->told || db_freeze(db) < 0)
		return;
	*home->told = (struct told){.error = -EIO};
	home->carrier = fork();
	if (home->carrier == 0)
		carry(&parcel, home->told);
	if (home->carrier < 0) {
		home->carrier = 0;
		db_thaw(db);
	}
}

static uint64_t pause_ns(struct home *home, uint64_t now)
{
	if (!home->begun_ns)
		home->begun_ns = now;
	return within(LEAST_NS, MOST_NS, (now - home->begun_ns) / PART_TIME);
}

void home_committed(struct home *home, struct db *db)
{
	uint64_t now = now_ns();

	if (!home->is_local) {
		home->error = 0;
		return;
	}
	if (home->carrier) {
		if (waitpid(home->carrier, NULL, WNOHANG) == 0)
			return;
		home->carrier = 0;
		db_thaw(db);
		take_answer(home, home->told);
		home->due_ns = now + pause_ns(home, now);
	} else if (now >= home->due_ns) {
		send(home, db);
	}
}

void home_words(const struct home *home, char *text, size_t size)
{
	const char *where = "";

	if (home->is_local && home->error)
		where = home->local;
	else if (*home->delivered && strcmp(home->delivered, home->target) != 0)
		where = home->delivered;
	snprintf(text, size, "%s", where);
	if (where == home->local)
		*strrchr(text, '/') = '\0';
}

void home_stop(struct home *home)
{
	if (!home->carrier)
		return;
	kill(home->carrier, SIGKILL);
	waitpid(home->carrier, NULL, 0);
	home->carrier = 0;
	home->due_ns = 0;
}

/* Removes the local database, if the path still leads to our folder. */
static void clear(const struct home *home)
{
	static const char *const names[] = {
		TRUST_DATABASE, TRUST_DATABASE "-wal", TRUST_DATABASE "-shm",
		TRUST_DATABASE "-journal", TRUST_DATABASE COPY_PART,
	};
	char path[DELIVER_PATH];
	struct folder folder;

	snprintf(path, sizeof(path), "%s", home->local);
	*strrchr(path, '/') = '\0';
	if (folder_look(&folder, path) < 0)
		return;
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		unlinkat(folder.fd, names[i], 0);
	folder_close(&folder);
}

int home_finish(struct home *home)
{
	const struct parcel parcel = {home->local, home->target, home->run_id, true};
	struct told told = {.error = 0};
	struct db *db;

	if (has_bytes(home->local)) {
		if (!*home->run_id && db_open_read(home->local, &db) == 0) {
			run_id(db, home->run_id, sizeof(home->run_id));
			db_close(db);
		}
		told.error = deliver(&parcel, told.name);
		take_answer(home, &told);
	}
	if (told.error < 0)
		return told.error;
	clear(home);
	home->is_local = home->was_open = false;
	return 0;
}

bool home_find(const char *database, char *ret, size_t size)
{
	char path[4096];
	struct folder folder;

	snprintf(ret, size, "%s", database);
	if (link_find(database, path, sizeof(path)) < 0 || folder_look(&folder, path) < 0)
		return false;
	folder_close(&folder);
	if (strlen(path) + sizeof(TRUST_DATABASE) >= size)
		return false;
	snprintf(ret, size, "%s/" TRUST_DATABASE, path);
	if (has_bytes(ret))
		return true;
	snprintf(ret, size, "%s", database);
	return false;
}

int home_open_read(const char *database, struct db **ret_db)
{
	char path[DELIVER_PATH];
	int r;

	if (!home_find(database, path, sizeof(path)))
		return db_open_read(database, ret_db);
	r = db_open_read(path, ret_db);
	/* If the folder has no database any more, it was just delivered. */
	return r == -ENOENT ? db_open_read(database, ret_db) : r;
}
