/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - the only way to open a database file. Anybody may have made a database and the files
 * beside it, which SQLite believes by their names alone: a rollback journal is written into the
 * database and can name any other file to be deleted, a write-ahead log replaces what is read, and
 * the log's index is shared memory that its owner can truncate. So all of them are checked before
 * SQLite opens any.
 *
 * A file is accepted if it is a regular file with one name, of the caller, of root or of the
 * database's owner, that nobody else may write. A rollback journal that SQLite would play back is
 * never accepted.
 *
 * What remains: the owner of the database may write anything into it and its log. Some microseconds
 * lie between the check and SQLite's opening.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

struct sqlite3;

struct door {
	int fd;	/* descriptor of the database, for reading; -1: it does not exist */
	struct stat file;
	bool is_logged;   /* the database's header says that it is written with a log */
	bool has_log;     /* there is a log, and it is not empty */
	bool has_journal; /* there is a journal */
	bool is_foreign;  /* the owner is neither the caller nor, for an ordinary user, root */
};

/*
 * Checks a database and the files beside it, and changes nothing. Returns 0; -EUCLEAN if one of
 * them is not accepted, and door_words() says which and why; or -ENOENT, -EISDIR, -EACCES, ... of
 * the database. Call door_close() after any result, and before SQLite opens the file: closing it
 * later would end SQLite's locks.
 */
int door_look(const char *path, struct door *ret);
void door_close(struct door *door);

/*
 * Opens the log of a database for reading, to copy both. -ENOENT: there is no log; -EUCLEAN: it is
 * not accepted.
 */
int door_open_log(const char *path, const struct door *door);

enum door_use {
	DOOR_READ,
	DOOR_WRITE,
	DOOR_MAKE,     /* write, and make the file if it does not exist */
	DOOR_SNAPSHOT, /* read the file as it is, without locks; nobody may write meanwhile */
	DOOR_MEMORY,   /* a database in memory, without a file */
};

/*
 * Opens a database. If 0 is returned, *ret_sqlite has SQLite's result code, and the handle must be
 * closed whatever that code is; -errno as of door_look(). Another user's database in WAL mode is
 * refused, because the log's index would become memory of this process.
 */
int door_open(const char *path, enum door_use use, struct sqlite3 **ret_handle, int *ret_sqlite);

/* Makes an empty file; fails if `path` exists. Returns 0 or -errno. */
int door_make(const char *path, mode_t mode);

/* Whether SQLite was kept from opening a file since the last call. */
bool door_take_refusal(void);

/* Returns why -EUCLEAN was returned: a clause that follows "cannot read FILE: ". */
const char *door_words(void);
