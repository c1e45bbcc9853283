/* SPDX-License-Identifier: Apache-2.0 */
/* drain.h - moves the records of a run from its segments into its database. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct folder;

int drain_run(const char *segment_dir, const char *database);

struct recovered {
	bool is_home; /* `database` itself has the whole run; false: see home_find() */
	bool live;    /* processes still record, so the database will still grow */
	/* why the database could not be delivered to its target, as -errno; 0: it was delivered */
	int kept;
	int64_t missing_count; /* records that no database has, since they could not be stored */
};

/* Waits for a drain to end, or stores what a killed drain left. -errno: records may be missing. */
int drain_recover(const char *database, struct recovered *ret);

/* Stores what a killed drain left, with its locked `folder`, and closes the folder. */
int drain_take_over(struct folder *folder, const char *database, struct recovered *ret);

/* Returns true if the run still records. Changes no files. */
bool drain_is_live(const char *database);
