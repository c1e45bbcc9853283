/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - the only way to open a database file.
 *
 * Anybody may have made a database and the files beside it, and SQLite trusts such files by their
 * names. SQLite writes a rollback journal into the database, and deletes any file that the journal
 * names. A write-ahead log's rows replace those of the database. The log's index is shared memory,
 * which its owner can truncate. So all these files are checked before SQLite opens one.
 *
 * A file is accepted if it is a regular file with one hard link, owned by the caller, root or the
 * database's owner, and if nobody else may write it. A rollback journal that SQLite would play back
 * is never accepted.
 *
 * Two risks remain. The database's owner may write anything into it and its log. And a file may be
 * replaced in the microseconds between the check and SQLite's open().
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

struct sqlite3;

struct door {
	int fd; /* the database, open for reading; -1: it does not exist */
	struct stat file;
	bool is_logged; /* by its header, the database is written with a write-ahead log */
	bool has_log;
	bool has_journal;
	bool is_foreign; /* the owner is another user, not root */
};

/*
 * Checks a database and the files beside it, and changes nothing. Returns -EUCLEAN if a file is not
 * accepted (door_words() says why), or an error about the database, such as -ENOENT.
 *
 * Call door_close() after any result, and before SQLite opens the database: a process that closes
 * any descriptor of a file loses all its locks on that file.
 */
int door_look(const char *path, struct door *ret);
void door_close(struct door *door);

/* Opens the log and returns its descriptor. -ENOENT: there is none; -EUCLEAN: not accepted. */
int door_open_log(const char *path, const struct door *door);

enum door_use {
	DOOR_READ,
	DOOR_WRITE,
	DOOR_MAKE,     /* write, and make the file if it does not exist */
	DOOR_SNAPSHOT, /* read the file as it is, without locks; nobody may write it meanwhile */
	DOOR_MEMORY,   /* a database in memory, without a file */
};

/*
 * Lets SQLite open a file. After 0, *ret_sqlite is SQLite's result. Close the handle in any case.
 * Refuses another user's database in WAL mode: SQLite would map the index of its log.
 */
int door_open(const char *path, enum door_use use, struct sqlite3 **ret_handle, int *ret_sqlite);

/* Returns true if another machine, or a user's program (FUSE), serves the file system. */
bool door_is_remote(const char *path);

/* Makes an empty file; fails if `path` exists. */
int door_make(const char *path, mode_t mode);

/* Returns true if, since the last call of this function, SQLite was kept from opening a file. */
bool door_take_refusal(void);

/* Returns why the last -EUCLEAN was returned: words that follow "cannot read FILE: ". */
const char *door_words(void);
