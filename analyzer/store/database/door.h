/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - the one way to a database file. A database may have come from anybody, and so may the
 * files beside it, which SQLite believes by their names alone: a rollback journal is written into
 * the database and can name any other file to be deleted, a write-ahead log replaces what is read,
 * and the log's index is memory that its owner can cut short. The door looks at all of them before
 * SQLite opens any.
 *
 * It accepts regular files with one name, of the caller, of root or of the database's owner, which
 * nobody else may write. A rollback journal that SQLite would play is never played.
 *
 * What remains: the owner of the database may write anything into it and its log. Some microseconds
 * lie between the look and SQLite's open.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

struct sqlite3;

struct door {
	int fd;	/* descriptor of the database, open to read; -1: it does not exist */
	struct stat file;
	bool is_logged;   /* its head says that it is written with a write-ahead log */
	bool has_log;     /* a log lies there and is not empty */
	bool has_journal; /* a journal lies there */
	bool is_foreign;  /* neither the caller nor, for an ordinary user, root owns it */
};

/*
 * Looks at a database and at the files beside it, and changes nothing. 0; -EUCLEAN: one of them is
 * not accepted, and door_words() says which and why; -ENOENT, -EISDIR, -EACCES, ... of the database
 * itself. Call door_close() after any result, and before SQLite opens the file: closing it later
 * would end SQLite's locks.
 */
int door_look(const char *path, struct door *ret);
void door_close(struct door *door);

/*
 * Opens the log of a database to read, for a copy of both. -ENOENT: there is none; -EUCLEAN as
 * above.
 */
int door_open_log(const char *path, const struct door *door);

enum door_use {
	DOOR_READ,
	DOOR_WRITE,
	DOOR_MAKE,     /* write, and make the file if it does not exist */
	DOOR_SNAPSHOT, /* read as it stands: no lock is taken, and nobody may write */
	DOOR_MEMORY,   /* a database in memory, without a file */
};

/*
 * Opens a database. With 0, SQLite's result code is in *ret_sqlite, and the handle must be closed
 * whatever the code; -errno as of door_look(). Another user's database in WAL mode is refused
 * (is_logged and is_foreign), because its index would become memory of this process.
 */
int door_open(const char *path, enum door_use use, struct sqlite3 **ret_handle, int *ret_sqlite);

/* Makes an empty file where there is none. 0 or -errno. */
int door_make(const char *path, mode_t mode);

/* Whether SQLite was kept from opening a file since the last call. */
bool door_take_refusal(void);

/* Why -EUCLEAN was returned: a clause that follows "cannot read FILE: ". */
const char *door_words(void);
