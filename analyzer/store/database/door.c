/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database/door.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "dlprof/units.h"

#define HEAD_BYTES 100 /* size of a database's header; see sqlite.org/fileformat2.html, 1.3 */
#define READ_MODE  19  /* the read version's offset in the header; 2: written with a log */

#define MOST_LOOKS    3
#define LOOK_PAUSE_MS 5

#define JOURNAL "-journal"
#define LOG     "-wal"
#define INDEX   "-shm"

static char words[PATH_MAX + 400];
static bool has_refused;

/*
 * What file systems lack. SQLite's locks may break on remote ones, and on those that are a user's
 * program (FUSE). Those without modes say of every file that all may write it. The types are from
 * linux/magic.h, statfs(2), or sources.
 */
static const struct file_system {
	uint32_t type;
	bool is_remote, lacks_modes;
} file_systems[] = {
	{0x4D44, false, true},     /* FAT */
	{0x2011BAB0, false, true}, /* exFAT */
	{0x5346544E, false, true}, /* NTFS */
	{0x7366746E, false, true}, /* ntfs3 */
	{0x53464846, false, true}, /* WSL 1 */
	{0x01021997, true, true},  /* 9p: WSL 2, virtual machines */
	{0x65735546, true, true},  /* FUSE: sshfs, s3fs, gcsfuse, and many more */
	{0x517B, true, true},      /* SMB */
	{0xFF534D42, true, true},  /* CIFS */
	{0xFE534D42, true, true},  /* SMB 2 */
	{0x786F4256, true, true},  /* VirtualBox */
	{0xBACBACBC, true, true},  /* VMware */
	{0x6969, true, false},     /* NFS */
	{0x00C36400, true, false}, /* Ceph */
	{0x0BD00BD0, true, false}, /* Lustre */
	{0x47504653, true, false}, /* GPFS */
	{0x19830326, true, false}, /* BeeGFS */
	{0x5346414F, true, false}, /* AFS */
	{0x6B414653, true, false}, /* kAFS */
	{0x73757245, true, false}, /* Coda */
	{0x20030528, true, false}, /* OrangeFS */
	{0xAAD7AAEA, true, false}, /* PanFS */
	{0x564C, true, false},     /* NCP */
	{0x01161970, true, false}, /* GFS2 */
	{0x7461636F, true, false}, /* OCFS2 */
};

__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(words, sizeof(words), format, values);
	va_end(values);
	return -EUCLEAN;
}

const char *door_words(void)
{
	return words;
}

bool door_take_refusal(void)
{
	const bool taken = has_refused;

	has_refused = false;
	return taken;
}

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFLNK:
		return "a link";
	case S_IFDIR:
		return "a folder";
	case S_IFIFO:
		return "a pipe";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

/* Returns the file system of a path; NULL: it lacks nothing, or is not known. */
static const struct file_system *file_system_of(const char *path)
{
	struct statfs system;

	if (statfs(path, &system) < 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_COUNT(file_systems); i++)
		if ((uint32_t)system.f_type == file_systems[i].type)
			return &file_systems[i];
	return NULL;
}

bool door_is_remote(const char *path)
{
	const struct file_system *system = file_system_of(path);

	return system && system->is_remote;
}

/* Returns true if anybody may write the file. File systems without permissions do not count. */
static bool may_others_write(const char *path, const struct stat *file)
{
	const struct file_system *system =
		file->st_mode & S_IWOTH ? file_system_of(path) : NULL;

	return file->st_mode & S_IWOTH && !(system && system->lacks_modes);
}

/* Checks a file before it is opened: open() could start a device, or wait for a pipe's writer. */
static int look_at_database(const char *path, struct stat *ret)
{
	char target[PATH_MAX];

	if (lstat(path, ret) < 0)
		return -errno;
	if (S_ISDIR(ret->st_mode))
		return -EISDIR;
	if (S_ISLNK(ret->st_mode) && realpath(path, target))
		return refuse("it is a link; name the file that it leads to: %s", target);
	if (!S_ISREG(ret->st_mode))
		return refuse("it is %s, not a file", kind_of(ret->st_mode));
	if (may_others_write(path, ret))
		return refuse("anybody may write it; if what it says is yours, take that away"
			      " first (chmod o-w)");
	return 0;
}

/* Returns 0 if the file `path` + `end` is accepted (*ret_size: its size), or missing (-1). */
static int look_beside(const char *path, const char *end, uid_t owner, int64_t *ret_size)
{
	char name[PATH_MAX + sizeof(JOURNAL)];
	struct stat file;

	*ret_size = -1;
	if (snprintf(name, sizeof(name), "%s%s", path, end) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	if (lstat(name, &file) < 0)
		return errno == ENOENT ? 0 : -errno;
	*ret_size = file.st_size;
	if (!S_ISREG(file.st_mode))
		return refuse("its %s, which lies beside it, is %s, not a file: remove that", end,
			      kind_of(file.st_mode));
	if (file.st_uid != owner && file.st_uid != geteuid() && file.st_uid != 0)
		return refuse("its %s, which lies beside it, belongs to another user, who may have"
			      " put anything into it: remove it, or read a copy of the database",
			      end);
	if (may_others_write(name, &file))
		return refuse("anybody may write its %s, which lies beside it: remove that, or"
			      " read a copy of the database",
			      end);
	if (file.st_nlink > 1)
		return refuse("its %s, which lies beside it, has another name elsewhere and may"
			      " belong to something else: remove this name of it",
			      end);
	return 0;
}

/* Returns true if another process holds SQLite's lock for writing (sqlite.org/lockingv3.html). */
static bool is_being_written(int database)
{
	struct flock lock = {.l_type = F_WRLCK, .l_start = 0x40000001, .l_len = 1};

	return database >= 0 && fcntl(database, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static int look_at_neighbours(const char *path, uid_t owner, struct door *door)
{
	int64_t log, journal, index;
	int r = look_beside(path, LOG, owner, &log);

	if (r == 0)
		r = look_beside(path, JOURNAL, owner, &journal);
	if (r == 0)
		r = look_beside(path, INDEX, owner, &index);
	if (r < 0)
		return r;
	door->has_log = log > 0;
	door->has_journal = journal >= 0;
	if (door->has_log && !door->is_logged)
		return refuse("a %s lies beside it, though the database says that it has no log:"
			      " what is in that log is not of this database; remove the log",
			      LOG);
	/* SQLite would delete a journal beside an empty database, taking it for a leftover. */
	if (journal > 0 && !door->file.st_size && !is_being_written(door->fd))
		return refuse("a %s lies beside it, though there is nothing to undo: remove the"
			      " journal",
			      JOURNAL);
	return 0;
}

static int look_once(const char *path, struct door *ret)
{
	unsigned char head[HEAD_BYTES];
	struct stat file;
	int r;

	*ret = (struct door){.fd = -1};
	r = look_at_database(path, &ret->file);
	if (r == -ENOENT) {
		r = look_at_neighbours(path, geteuid(), ret);
		return r < 0 ? r : -ENOENT;
	}
	if (r < 0)
		return r;
	ret->fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (ret->fd < 0)
		return -errno;
	if (fstat(ret->fd, &file) < 0 || file.st_dev != ret->file.st_dev ||
	    file.st_ino != ret->file.st_ino)
		return refuse("another file took its place just now; try again");
	ret->file = file;
	ret->is_foreign = file.st_uid != geteuid() && (file.st_uid != 0 || geteuid() == 0);
	ret->is_logged = pread(ret->fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
			 head[READ_MODE] == 2;
	return look_at_neighbours(path, file.st_uid, ret);
}

void door_close(struct door *door)
{
	if (door->fd >= 0)
		close(door->fd);
	door->fd = -1;
}

int door_look(const char *path, struct door *ret)
{
	int r = look_once(path, ret);

	/* While a process begins or ends writing, the files may look wrong for a moment. */
	for (int tries = 1; r == -EUCLEAN && tries < MOST_LOOKS; tries++) {
		door_close(ret);
		poll(NULL, 0, LOOK_PAUSE_MS);
		r = look_once(path, ret);
	}
	return r;
}

int door_open_log(const char *path, const struct door *door)
{
	char name[PATH_MAX + sizeof(LOG)];
	int64_t size;
	int r = look_beside(path, LOG, door->file.st_uid, &size), fd;

	if (r < 0)
		return r;
	if (size <= 0 || !door->is_logged)
		return -ENOENT;
	snprintf(name, sizeof(name), "%s" LOG, path);
	fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Returns true if a journal has a header: then SQLite plays it back unless somebody is writing. */
static bool is_hot(const char *journal)
{
	int fd = open(journal, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char first = 1;

	if (fd < 0)
		return errno != ENOENT;
	if (pread(fd, &first, 1, 0) == 0)
		first = 0;
	close(fd);
	return first;
}

static int refuse_hot(void)
{
	return refuse(
		"a %s lies beside it, as a change that was cut off leaves it, and a journal"
		" can name other files to be deleted. If the change was yours (an export that"
		" was killed), `sqlite3 FILE .tables` undoes it; otherwise remove the journal",
		JOURNAL);
}

static bool may_open(const char *name, int flags)
{
	const char *end = flags & SQLITE_OPEN_WAL ? LOG : JOURNAL;
	char path[PATH_MAX];
	struct stat database;
	int64_t size;

	if (flags & SQLITE_OPEN_SUPER_JOURNAL) {
		refuse("a journal beside it names another file");
		return false;
	}
	if (!(flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)))
		return true;
	snprintf(path, sizeof(path), "%.*s", (int)(strlen(name) - strlen(end)), name);
	if (lstat(path, &database) < 0) {
		refuse("it was removed just now");
		return false;
	}
	if (look_beside(path, end, database.st_uid, &size) < 0)
		return false;
	if (!(flags & SQLITE_OPEN_MAIN_JOURNAL) || flags & SQLITE_OPEN_CREATE || !is_hot(name))
		return true;
	refuse_hot();
	return false;
}

static sqlite3_vfs *unix_vfs;

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		     int *ret_flags)
{
	if (name && !may_open(name, flags)) {
		has_refused = true;
		file->pMethods = NULL;
		return SQLITE_CANTOPEN;
	}
	return unix_vfs->xOpen(vfs, name, file, flags, ret_flags);
}

/* Returns the name of a file system for SQLite that asks may_open() about each file, or NULL. */
static const char *vfs_name(void)
{
	static sqlite3_vfs own;

	if (own.zName)
		return own.zName;
	unix_vfs = sqlite3_vfs_find(NULL);
	if (!unix_vfs)
		return NULL;
	own = *unix_vfs;
	own.zName = "dlprof";
	own.xOpen = open_file;
	if (sqlite3_vfs_register(&own, 0) != SQLITE_OK)
		own.zName = NULL;
	return own.zName;
}

/* Returns a URI that keeps SQLite from taking locks; NULL: no memory. The caller frees it. */
static char *snapshot_uri(const char *path)
{
	static const char start[] = "file:", end[] = "?immutable=1", digits[] = "0123456789ABCDEF";
	char *uri = malloc(sizeof(start) + 3 * strlen(path) + sizeof(end)), *to = uri;

	if (!uri)
		return NULL;
	to = stpcpy(to, start);
	for (; *path; path++) {
		if (!strchr("?#%", *path)) {
			*to++ = *path;
			continue;
		}
		*to++ = '%';
		*to++ = digits[(unsigned char)*path >> 4];
		*to++ = digits[*path & 15];
	}
	strcpy(to, end);
	return uri;
}

int door_make(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int look(const char *path, enum door_use use)
{
	char journal[PATH_MAX + sizeof(JOURNAL)];
	struct door door;
	int r = door_look(path, &door);

	door_close(&door);
	snprintf(journal, sizeof(journal), "%s" JOURNAL, path);
	/* SQLite ignores the journal of a snapshot, so may_open() does not see it. */
	if (r == 0 && use == DOOR_SNAPSHOT && door.has_journal && is_hot(journal))
		return refuse_hot();
	/* The umask decides who may read a new file, as with files that SQLite makes. */
	if (r == -ENOENT && use == DOOR_MAKE)
		return door_make(path, 0644);
	if (r == 0 && door.is_logged && door.is_foreign && use != DOOR_SNAPSHOT)
		return refuse("it is another user's, and written with a log, whose owner could end"
			      " this program: read a copy, or let its owner switch the log off"
			      " (sqlite3 FILE 'PRAGMA journal_mode = DELETE')");
	return r;
}

int door_open(const char *path, enum door_use use, struct sqlite3 **ret_handle, int *ret_sqlite)
{
	static const int flags[] = {
		[DOOR_READ] = SQLITE_OPEN_READONLY,
		[DOOR_WRITE] = SQLITE_OPEN_READWRITE,
		[DOOR_MAKE] = SQLITE_OPEN_READWRITE,
		[DOOR_SNAPSHOT] = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
		[DOOR_MEMORY] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY,
	};
	const char *vfs = vfs_name();
	char *uri = NULL;
	int r = use == DOOR_MEMORY ? 0 : look(path, use);

	*ret_handle = NULL;
	if (r < 0)
		return r;
	if (use == DOOR_SNAPSHOT)
		uri = snapshot_uri(path);
	if (!vfs || (use == DOOR_SNAPSHOT && !uri))
		return -ENOMEM;
	has_refused = false;
	/* Only one thread uses the handle, so SQLite needs no mutex. */
	*ret_sqlite = sqlite3_open_v2(uri ? uri : path, ret_handle,
				      flags[use] | SQLITE_OPEN_NOMUTEX, vfs);
	free(uri);
	return 0;
}
