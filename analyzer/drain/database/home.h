/* SPDX-License-Identifier: Apache-2.0 */
/*
 * home.h - where the database of a run is written.
 *
 * Where the user wants it, if that is a local file system and can be written. Otherwise in the
 * folder of the run's segments, which is on this machine; from there a copy is delivered every
 * minute, more often at first, and the last when the run is over. What cannot be delivered stays in
 * the folder, and "DATABASE-segments" leads there. Functions return 0 or a negative errno.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "drain/database/deliver.h"
#include "store/database/db.h"

struct told;

struct home {
	const char *target;
	char local[DELIVER_PATH];
	char delivered[DELIVER_PATH];	/* under which name; "": not yet */
	char run_id[128];
	bool is_local;
	bool was_open;			/* where it is now */
	int error;			/* what keeps it from its place; 0: nothing */
	pid_t carrier;			/* brings a copy there; 0: none is under way */
	struct told *told;		/* ... and how that went */
	uint64_t due_ns;		/* the next one */
	uint64_t begun_ns;		/* the first arrived, or did not; 0: not yet */
};

void home_init(struct home *home, const char *target, const char *folder);

/* Opens it for writing, wherever that is possible now. */
int home_open(struct home *home, struct db **ret_db);

/* It had an error and is closed: it may have to move. */
void home_failed(struct home *home, int error);

/* Rows were committed; starts a delivery from time to time. */
void home_committed(struct home *home, struct db *db);

/* Where the run is instead of its home, or "": there, or nowhere yet. */
void home_words(const struct home *home, char *text, size_t size);

/* Before it is closed. */
void home_stop(struct home *home);

/* It is closed and complete: delivers it, and waits for that. */
int home_finish(struct home *home);

/* Is it on a file system that waits for another machine, or for a user's program? */
bool home_is_remote(const char *path);

/* Where a run is to be read. True: in its folder. */
bool home_find(const char *database, char *ret, size_t size);

/* Opens it there. */
int home_open_read(const char *database, struct db **ret_db);
