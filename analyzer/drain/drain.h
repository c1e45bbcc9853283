/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.h - empty the segments of a run into its database.
 */
#ifndef DRAIN_H
#define DRAIN_H

#include <stdbool.h>

struct folder;

/* Follows the run until its last recorder ended; what `dlprof-drain` does. 0 or -errno. */
int drain_run(const char *segment_dir, const char *database);

/*
 * Brings `database` up to date before it is read: waits (at most a few seconds) for a drain that
 * is finishing, or folds in what an interrupted drain left behind. *ret_live: recorders still run,
 * so the database will go on growing. 0, also where there was nothing to do, or -errno.
 */
int drain_recover(const char *database, bool *ret_live);

/* recover.c's: what the drain before, which ended before its time, left. Closes the folder. */
int drain_take_over(struct folder *folder, const char *database, bool *ret_live);

/* Do processes record into it now? Touches nothing. */
bool drain_is_live(const char *database);

#endif
