/* SPDX-License-Identifier: Apache-2.0 */
/*
 * home.h - where the database of a run is written.
 *
 * It is written where the user wants it, if that is a local file system and can be written.
 * Otherwise it is in the folder of the run's segments, which is on this machine; a copy is
 * delivered from there every minute, more often at first, and once more when the run is over. What
 * cannot be delivered stays in the folder, to which "DATABASE-segments" leads. Functions return 0
 * or a negative errno.
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
	char delivered[DELIVER_PATH];	/* name of the delivery; "": none yet */
	char run_id[128];
	bool is_local;
	bool was_open;			/* it was open at its present place */
	int error;			/* why it is not at its place; 0: nothing keeps it away */
	pid_t carrier;			/* child that delivers a copy; 0: none */
	struct told *told;		/* what the child reports */
	uint64_t due_ns;		/* when the next delivery is due */
	uint64_t begun_ns;		/* when the first delivery ended, well or not; 0: not yet */
};

void home_init(struct home *home, const char *target, const char *folder);

/* Opens it for writing, wherever that is possible now. */
int home_open(struct home *home, struct db **ret_db);

/* Tells that the database had an error and is closed, so that it may have to move. */
void home_failed(struct home *home, int error);

/* Tells that rows were committed; starts a delivery from time to time. */
void home_committed(struct home *home, struct db *db);

/* Says where the run is instead of its home; "": it is at home, or nowhere yet. */
void home_words(const struct home *home, char *text, size_t size);

/* Ends deliveries, before the database is closed. */
void home_stop(struct home *home);

/* Delivers the database, which is closed and complete, and waits for that. */
int home_finish(struct home *home);

/* Whether a path is on a file system that waits for another machine, or for a user's program. */
bool home_is_remote(const char *path);

/* Finds where to read a run. True: in its folder. */
bool home_find(const char *database, char *ret, size_t size);

/* Opens a run to read, where home_find() finds it. */
int home_open_read(const char *database, struct db **ret_db);
