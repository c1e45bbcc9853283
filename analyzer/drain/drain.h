/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.h - empty the segments of a run into its database.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct folder;

/* Follows the run until its last recorder ended; what `dlprof-drain` does. 0 or -errno. */
int drain_run(const char *segment_dir, const char *database);

struct recovered {
	bool is_home;           /* all that there is of it has its name: see home_find() */
	bool live;		/* recorders still run: the database will go on growing */
	int kept;		/* why it is in its folder and not at its place, as -errno; 0 */
	int64_t missing_count;	/* records that are neither here nor there: see home_open_read() */
};

/*
 * Brings `database` up to date before it is read: waits (at most a few seconds) for a drain that
 * is finishing, folds in what an interrupted drain left behind, and delivers what was kept
 * elsewhere. 0, also where there was nothing to do, or -errno: some records may be missing.
 */
int drain_recover(const char *database, struct recovered *ret);

/* recover.c's: what the drain before, which ended before its time, left. Closes the folder. */
int drain_take_over(struct folder *folder, const char *database, struct recovered *ret);

/* Do processes record into it now? Touches nothing. */
bool drain_is_live(const char *database);
