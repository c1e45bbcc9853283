/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - the one way to a database file. A database may have come from anybody, and so may the
 * files beside it, which SQLite believes by their names alone: a rollback journal is written into
 * the database and can name any other file to be deleted, a write-ahead log replaces what is read,
 * and the log's index is memory that its owner can cut short. All of them are looked at here before
 * SQLite opens any of them.
 *
 * Accepted are regular files with one name, of the caller, of root or of the database's owner,
 * which nobody else may write. A rollback journal that SQLite would play is never played.
 *
 * What remains: who owns the database may write anything into it and its log. Between the look and
 * SQLite's open are some microseconds.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

struct sqlite3;

struct door {
	int fd;	/* of the database, open to read; -1: it does not exist */
	struct stat file;
	bool is_logged;   /* its head says that it is written with a write-ahead log */
	bool has_log;     /* something lies there that is not empty */
	bool has_journal; /* something lies there */
	bool is_foreign;  /* neither the caller nor, for an ordinary user, root owns it */
};

/*
 * Looks at a database and at the files beside it, and changes nothing. 0; -EUCLEAN: one of them is
 * not accepted, and door_words() says which and why; -ENOENT, -EISDIR, -EACCES, ... of the database
 * itself. To be closed by door_close() after any result; closing it before SQLite opens the file
 * keeps SQLite's locks.
 */
int door_look(const char *path, struct door *ret);
void door_close(struct door *door);

/*
 * The log of a database, open to read, for somebody who copies both. -ENOENT: there is none;
 * -EUCLEAN as above.
 */
int door_open_log(const char *path, const struct door *door);

enum door_use {
	DOOR_READ,
	DOOR_WRITE,
	DOOR_MAKE,     /* write, and make the file if it does not exist */
	DOOR_SNAPSHOT, /* read as it stands: no lock is taken, and nobody may write */
	DOOR_MEMORY,   /* no file at all */
};

/*
 * Opens it. SQLite's result code in *ret_sqlite if 0 is returned, and the handle is to be closed
 * after any result; -errno as of door_look(). A database in WAL mode of another user is refused
 * (is_logged and is_foreign), because its index would become memory of this process.
 */
int door_open(const char *path, enum door_use use, struct sqlite3 **ret_handle, int *ret_sqlite);

/* Makes an empty file where nothing is. 0 or -errno. */
int door_make(const char *path, mode_t mode);

/* Whether SQLite was kept from opening a file since this was last asked. */
bool door_take_refusal(void);

/* Why -EUCLEAN, for a person: a clause that follows "cannot read FILE: ". */
const char *door_words(void);
