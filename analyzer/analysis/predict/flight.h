/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight.h - finds out whether loads share a limit, such as a server that limits requests.
 *
 * If so, a load takes longer the more loads are under way. Only ends of epochs show this: there the
 * number of loads falls, however slow they are. Elsewhere, slow loads make more loads run at once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FLIGHT_MOST 50000 /* at most this many loads of a run are looked at */

/* Loads are sorted by epoch, then batch. */
struct flight_load {
	int64_t begin_ns;
	int64_t load_ns, cpu_ns;
	int32_t epoch;
	int32_t samples; /* -1: unknown */
};

struct flight {
	size_t load_count;
	double growth;      /* time off the CPU is proportional to (loads under way)^growth */
	double z;           /* growth divided by its standard error */
	double few, many;   /* smallest and largest number of loads under way at once */
	double limit_per_s; /* batches a second of all workers; NAN: no limit was found */
};

int flight_find(const struct flight_load *loads, size_t count, int32_t workers, struct flight *ret);
