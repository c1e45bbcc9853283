/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight.h - is what the loads wait for shared, as a server is that answers so many requests a
 * second?
 *
 * If it is, a load takes longer the more other loads are under way; a load that waits on its own
 * does not. Only the end of an epoch shows which it is, since fewer and fewer loads are under way
 * there, whatever made them slow. (Within an epoch the dependence is also the other way round:
 * while loads are slow, queues run dry and more workers load.)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FLIGHT_MOST 50000 /* loads that are looked at, from the first on */

/* One load, of which all is known; loads stand in order of (epoch, batch). */
struct flight_load {
	int64_t begin_ns;
	int64_t load_ns, cpu_ns;
	int32_t epoch;
	int32_t samples; /* -1: unknown */
};

struct flight {
	size_t load_count;  /* loads that were compared */
	double growth;      /* how time off the CPU grows with loads under way; 1: in proportion */
	double z;           /* growth over its standard error */
	double few, many;   /* fewest and most loads that were under way at once */
	double limit_per_s; /* batches that all workers together get; NAN: no limit was found */
};

/* `workers` is how many load. 0 or -ENOMEM. */
int flight_find(const struct flight_load *loads, size_t count, int32_t workers, struct flight *ret);
