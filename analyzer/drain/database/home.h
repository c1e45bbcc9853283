/* SPDX-License-Identifier: Apache-2.0 */
/*
 * home.h - decides where the database of a run is written.
 *
 * If the user's target is on a local file system and can be written, the database is written there.
 * Otherwise it is written in the folder of the run's segments, which is on this machine. From there
 * a copy is delivered to the target every minute, more often at first, and once more when the run
 * is over. What cannot be delivered stays in the folder, which "DATABASE-segments" leads to.
 * Functions return 0 or a negative errno.
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
	char delivered[DELIVER_PATH];	/* path of the last delivery; "": none yet */
	char run_id[128];
	bool is_local;
	bool was_open;			/* the database was opened at its present place */
	/* why the database cannot be at its target, as -errno; 0: it can */
	int error;
	pid_t carrier;			/* child process that delivers; 0: none */
	struct told *told;		/* result of that child, in shared memory */
	uint64_t due_ns;		/* when the next delivery is due */
	/* when the first delivery ended, successfully or not; 0: not yet */
	uint64_t begun_ns;
};

void home_init(struct home *home, const char *target, const char *folder);

/* Opens the database for writing, at its target or in the folder. */
int home_open(struct home *home, struct db **ret_db);

/* Notes that the database had an error and was closed; may move it to the folder. */
void home_failed(struct home *home, int error);

/* Notes that rows were committed, and starts a delivery when one is due. */
void home_committed(struct home *home, struct db *db);

/* Writes to `text` where the database is; "" if it is at its target, or nowhere yet. */
void home_words(const struct home *home, char *text, size_t size);

/* Stops a delivery under way, before the database is closed. */
void home_stop(struct home *home);

/* Delivers the closed, complete database, and waits for that. */
int home_finish(struct home *home);

/* Returns true if a path is on a file system of another machine, or of a user's program (FUSE). */
bool home_is_remote(const char *path);

/* Finds the file of a run's database. Returns true if it is in the run's folder. */
bool home_find(const char *database, char *ret, size_t size);

/* Opens a run's database for reading, wherever home_find() finds it. */
int home_open_read(const char *database, struct db **ret_db);
