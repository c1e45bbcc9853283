/* SPDX-License-Identifier: Apache-2.0 */
/* drain.h - moves the records of a run from its segments into its database. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct folder;

/* Follows the run until its last recording process has ended. Returns 0 or -errno. */
int drain_run(const char *segment_dir, const char *database);

struct recovered {
	bool is_home;           /* `database` has the whole run: see home_find() */
	bool live;		/* processes still record: the database will grow */
	/* why the database is in the folder, not at its target, as -errno; 0: it is there */
	int kept;
	int64_t missing_count;	/* records that neither database has: see home_open_read() */
};

/*
 * Brings `database` up to date before it is read: waits a few seconds for a drain that is just
 * finishing, stores what a killed drain left, and delivers a database from the folder. Returns 0,
 * also if there was nothing to do, or -errno if records may be missing.
 */
int drain_recover(const char *database, struct recovered *ret);

/* Stores what a killed drain left, and closes the folder; called by recover.c. */
int drain_take_over(struct folder *folder, const char *database, struct recovered *ret);

/* Returns true if processes now record into the run of `database`. Changes nothing. */
bool drain_is_live(const char *database);
