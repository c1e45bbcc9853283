/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/database/deliver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/database/copy.h"
#include "store/database/db_open.h"
#include "store/database/door.h"
#include "store/run/query.h"

#define MOST_NAMES 1000
#define NEW_FILE   (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

/* offset in a database's header of the two format versions: 1 means no write-ahead log */
#define MODES_AT 18

enum owner { NOBODY, RESERVED, OURS, OTHERS };

static bool is_of_run(const char *name, const char *run_id)
{
	struct run_info run;
	struct db *db;
	bool same;

	if (!*run_id || db_open_read(name, &db) < 0)
		return false;
	same = query_run(db, &run) == 0 && run.id && strcmp(run.id, run_id) == 0;
	run_info_done(&run);
	db_close(db);
	return same;
}

/* Returns true if the first bytes are zero: they are written last, so a delivery was cut off. */
static bool has_no_head(const char *name)
{
	static const char none[16];
	char head[sizeof(none)] = "x";
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool empty;

	if (fd < 0)
		return false;
	empty = read(fd, head, sizeof(head)) <= 0 || memcmp(head, none, sizeof(none)) == 0;
	close(fd);
	return empty;
}

/* Returns who owns `name`. `first`: the run reserved this name, so an empty file is its own. */
static enum owner whose(const char *name, bool first, const struct parcel *parcel)
{
	struct stat status;

	if (lstat(name, &status) < 0)
		return errno == ENOENT ? NOBODY : OTHERS;
	if (!S_ISREG(status.st_mode))
		return OTHERS;
	if (first && has_no_head(name))
		return RESERVED;
	return is_of_run(name, parcel->run_id) ? OURS : OTHERS;
}

/* Makes name number `number` of "run.db", "run-2.db", ..., as shim/record/run.c does. */
static int make_name(const char *target, int number, char *ret)
{
	const char *slash = strrchr(target, '/'), *dot = strrchr(target, '.');
	int stem, length;

	if (!dot || (slash && dot < slash))
		dot = target + strlen(target);
	stem = (int)(dot - target);
	length = number == 1 ? snprintf(ret, DELIVER_PATH, "%s", target)
			     : snprintf(ret, DELIVER_PATH, "%.*s-%d%s", stem, target, number, dot);
	return length < DELIVER_PATH ? 0 : -ENAMETOOLONG;
}

/* Copies the first bytes last, so that an unfinished copy is no valid database. */
static int write_copy(const char *from, int out)
{
	char head[DELIVER_HEAD];
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), r;
	ssize_t length;

	if (in < 0)
		return -errno;
	length = read(in, head, sizeof(head));
	r = length < 0 ? -errno : length < (ssize_t)sizeof(head) ? -EBADMSG : 0;
	if (r == 0 && lseek(out, length, SEEK_SET) < 0)
		r = -errno;
	if (r == 0)
		r = copy_bytes(in, out);
	memset(head + MODES_AT, 1, 2);
	if (r == 0 && pwrite(out, head, sizeof(head), 0) != (ssize_t)sizeof(head))
		r = errno ? -errno : -ENOSPC;
	if (r == 0 && fsync(out) < 0)
		r = -errno;
	close(in);
	return r;
}

/* Closes a copy. Some file systems report a full disk only in close(). */
static int close_copy(int out, int r)
{
	return close(out) < 0 && r == 0 ? -errno : r;
}

static int deliver_in_place(const struct parcel *parcel, const char *name)
{
	int out = open(name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), r;

	if (out < 0)
		return -errno;
	r = ftruncate(out, 0) < 0 ? -errno : write_copy(parcel->from, out);
	if (r < 0 && ftruncate(out, 0) < 0)
		r = -errno;
	return close_copy(out, r);
}

static void remove_part(const char *part)
{
	struct stat status;

	if (lstat(part, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid())
		unlink(part);
}

static int make_part(const char *name, char *part, int *ret_out)
{
	const char *slash = strrchr(name, '/');
	int folder = slash ? (int)(slash + 1 - name) : 0;

	if (snprintf(part, DELIVER_PATH, "%.*s.%s.part", folder, name, name + folder) >=
	    DELIVER_PATH)
		return -ENAMETOOLONG;
	remove_part(part);
	*ret_out = open(part, NEW_FILE, 0600);
	return *ret_out < 0 ? -errno : 0;
}

static int put(const struct parcel *parcel, const char *name, enum owner owner)
{
	char part[DELIVER_PATH];
	int out, r = make_part(name, part, &out);

	if (r < 0)
		return owner == RESERVED || (parcel->last && owner == OURS)
			       ? deliver_in_place(parcel, name)
			       : r;
	r = close_copy(out, write_copy(parcel->from, out));
	if (r == 0 && owner == NOBODY)
		r = door_make(name, 0600);
	if (r == 0 && rename(part, name) < 0)
		r = -errno;
	if (r < 0)
		unlink(part);
	if ((r == -ENOSPC || r == -EDQUOT) && parcel->last && owner == OURS)
		r = deliver_in_place(parcel, name);
	return r;
}

int deliver(const struct parcel *parcel, char *ret)
{
	int r = 0;

	for (int number = 1; number <= MOST_NAMES; number++) {
		enum owner owner;

		r = make_name(parcel->target, number, ret);
		if (r < 0)
			return r;
		owner = whose(ret, number == 1, parcel);
		if (owner == OTHERS)
			continue;
		r = put(parcel, ret, owner);
		if (r != -EEXIST)
			return r;
	}
	return r < 0 ? r : -EEXIST;
}
