/* SPDX-License-Identifier: Apache-2.0 */
/*
 * home.h - decides where the database of a run is written.
 *
 * The database is written at the user's target, if that is local and can be written. Else it is
 * written in the run's folder of segments, and copies are delivered: often at first, then each
 * minute, and at the end. If the last one fails, the link "DATABASE-segments" to the folder stays.
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
	bool was_open; /* the database was opened at its present place, target or folder */
	/* why the target cannot be written, as -errno; 0: it can */
	int error;
	pid_t carrier;     /* child that delivers a copy; 0: none */
	struct told *told; /* result of `carrier`, in shared memory */
	uint64_t due_ns;
	/* when the first delivery ended, with or without success; 0: not yet */
	uint64_t begun_ns;
};

void home_init(struct home *home, const char *target, const char *folder);

int home_open(struct home *home, struct db **ret_db);

/* After an error, may move the database to the run's folder. Close the database before. */
void home_failed(struct home *home, int error);

void home_committed(struct home *home, struct db *db);

/* Writes the database's place into `text`; "": its target, or there is none yet. */
void home_words(const struct home *home, char *text, size_t size);

void home_stop(struct home *home);

int home_finish(struct home *home);

/* Finds the file of a run's database. Returns true if the file is in the run's folder. */
bool home_find(const char *database, char *ret, size_t size);

int home_open_read(const char *database, struct db **ret_db);
