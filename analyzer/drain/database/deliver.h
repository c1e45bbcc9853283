/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deliver.h - bring a copy of a run's database to where the user wants it.
 *
 * What lies there is replaced only if it is this run's: the empty file that was reserved for it,
 * or an earlier delivery. Otherwise the next free name is taken ("run-2.db").
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DELIVER_PATH 4200

/* What is to be copied: a database whose log is empty, and that nobody writes into meanwhile. */
struct parcel {
	const char *from;
	const char *target;
	char run_id[128];	/* "": nothing is known of it yet */
	bool last;		/* an earlier delivery may be given up to make room */
};

/* `ret`: under which name, DELIVER_PATH bytes. 0, or -errno: then what was there still is, unless
 * `last`. */
int deliver(const struct parcel *parcel, char *ret);

/* Somebody who opens `database` may find it unfinished: it then lacks a head. */
#define DELIVER_HEAD 4096
