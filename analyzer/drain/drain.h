/* SPDX-License-Identifier: Apache-2.0 */
/* drain.h - empties the segments of a run into its database. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct folder;

/* Follows the run until its last recorder has ended, as `dlprof-drain` does. 0 or -errno. */
int drain_run(const char *segment_dir, const char *database);

struct recovered {
	bool is_home;           /* `database` has all of the run: see home_find() */
	bool live;		/* processes still record: the database will grow */
	int kept;		/* why it is in its folder and not at its place, as -errno; or 0 */
	int64_t missing_count;	/* records that are in neither database: see home_open_read() */
};

/*
 * Brings `database` up to date before it is read: waits a few seconds at most for a drain that is
 * finishing, folds in what an interrupted drain left, and delivers what was kept elsewhere. 0, also
 * if there was nothing to do; -errno: some records may be missing.
 */
int drain_recover(const char *database, struct recovered *ret);

/* Stores what an interrupted drain left, for recover.c. Closes the folder. */
int drain_take_over(struct folder *folder, const char *database, struct recovered *ret);

/* Whether processes record into it now. Touches nothing. */
bool drain_is_live(const char *database);
