/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deliver.h - copies a run's database to the path that the user wants.
 *
 * The copy replaces only the empty file that the run reserved, or an earlier delivery of the same
 * run. If another file is there, the copy gets the next free name ("run-2.db").
 */
#pragma once

#include <stdbool.h>

#define DELIVER_PATH 4200

/* A database to copy. Nobody writes to it meanwhile, and its log is empty. */
struct parcel {
	const char *from;
	const char *target;
	const char *run_id; /* "": unknown */
	bool last;          /* the run is over: an earlier copy may be removed first to make room */
};

/* Delivers; `ret` (DELIVER_PATH bytes) gets the path. An error keeps an old copy unless `last`. */
int deliver(const struct parcel *parcel, char *ret);

/* Number of bytes at a database's start that are written last: unfinished copies lack them. */
#define DELIVER_HEAD 4096
