/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deliver.h - copies a run's database to where the user wants it.
 *
 * The copy replaces only the run's reserved empty file or an earlier delivery of the run. Else it
 * takes the next free name ("run-2.db").
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DELIVER_PATH 4200

/* A database to copy. Nobody writes to it meanwhile, and its log is empty. */
struct parcel {
	const char *from;
	const char *target;
	char run_id[128]; /* "": unknown */
	bool last;        /* the run is over: an earlier copy may be removed first to make room */
};

/* Copies; `ret` (DELIVER_PATH bytes) gets the path. An error leaves the old copy, unless `last`. */
int deliver(const struct parcel *parcel, char *ret);

/* Bytes of a database that are written last. An unfinished delivery lacks these bytes. */
#define DELIVER_HEAD 4096
