/* SPDX-License-Identifier: Apache-2.0 */
/*
 * home.h - decides where the database of a run is written.
 *
 * The database is written at the user's target, if that is local and can be written. Else the
 * database is in the folder of segments. Copies are delivered to the target each minute (at first
 * more often) and at the end. If that fails, "DATABASE-segments" links to the folder.
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
	char delivered[DELIVER_PATH];
	char run_id[128];
	bool is_local;
	bool was_open; /* the database was opened at its present place */
	/* why the database cannot be at its target, as -errno; 0: it can */
	int error;
	pid_t carrier;     /* child process that delivers; 0: none */
	struct told *told; /* result of `carrier`, in shared memory */
	uint64_t due_ns;
	/* when the first delivery ended, successfully or not; 0: not yet */
	uint64_t begun_ns;
};

void home_init(struct home *home, const char *target, const char *folder);

int home_open(struct home *home, struct db **ret_db);

/* May move the database to the run's folder. Call it after an error, with the database closed. */
void home_failed(struct home *home, int error);

void home_committed(struct home *home, struct db *db);

/* Writes the database's place into `text`; "": the place is the target, or there is none yet. */
void home_words(const struct home *home, char *text, size_t size);

void home_stop(struct home *home);

int home_finish(struct home *home);

/* Returns true for file systems of another machine, or of a user's program (FUSE). */
bool home_is_remote(const char *path);

/* Finds the file of a run's database. Returns true if it is in the run's folder. */
bool home_find(const char *database, char *ret, size_t size);

int home_open_read(const char *database, struct db **ret_db);
