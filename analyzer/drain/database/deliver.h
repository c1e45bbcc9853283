/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deliver.h - brings a copy of a run's database to where the user wants it.
 *
 * A file there is replaced only if it is this run's: the empty file that was reserved for it, or an
 * earlier delivery. Otherwise the next free name is taken ("run-2.db").
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DELIVER_PATH 4200

/* A database to copy: its log is empty, and nobody writes into it meanwhile. */
struct parcel {
	const char *from;
	const char *target;
	char run_id[128];	/* id of the run; "": not known yet */
	bool last;		/* an earlier delivery may be lost to make room */
};

/*
 * Delivers; `ret`: its name, DELIVER_PATH bytes. -errno: the old one is still there, unless `last`.
 */
int deliver(const struct parcel *parcel, char *ret);

/* A database that is read while it is delivered lacks a head of this size. */
#define DELIVER_HEAD 4096
