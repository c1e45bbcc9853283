/* SPDX-License-Identifier: Apache-2.0 */
/* drain.h - moves the records of a run from its segments into its database. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct folder;

int drain_run(const char *segment_dir, const char *database);

struct recovered {
	bool is_home; /* `database` has the whole run: see home_find() */
	bool live;    /* processes still record, so the database will grow */
	/* Why the database is in the folder, as -errno; 0: the database is at its target. */
	int kept;
	int64_t missing_count; /* records that are in no database: see home_open_read() */
};

/* Waits for an ending drain, or stores what a killed drain left. -errno: records may be missing. */
int drain_recover(const char *database, struct recovered *ret);

/* Stores what a killed drain left, and closes the folder. */
int drain_take_over(struct folder *folder, const char *database, struct recovered *ret);

/* Returns true if the run still records. Changes nothing. */
bool drain_is_live(const char *database);
