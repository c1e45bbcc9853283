/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deliver.h - copies a run's database to where the user wants it.
 *
 * An existing file is replaced only if it is this run's: the empty file that was reserved for the
 * run, or an earlier delivery. Otherwise the next free name is taken ("run-2.db").
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DELIVER_PATH 4200

/* A database to copy. Its log is empty, and nobody writes to it during the copy. */
struct parcel {
	const char *from;
	const char *target;
	char run_id[128];	/* id of the run; "": not known yet */
	bool last;		/* an earlier delivery may be lost to make room */
};

/*
 * Delivers a database; `ret` gets the delivery's name, in DELIVER_PATH bytes. Returns 0 or -errno;
 * after an error the earlier delivery is still there, unless `last`.
 */
int deliver(const struct parcel *parcel, char *ret);

/* Size of the part of a database that is written last: an unfinished delivery lacks it. */
#define DELIVER_HEAD 4096
