/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight.h - do the loads wait for something shared, such as a server with a limit on requests?
 *
 * If they do, a load takes longer the more other loads are under way; a load that waits on its own
 * does not. Only the end of an epoch decides it, since fewer and fewer loads are under way there,
 * whatever made them slow. (Within an epoch the dependence is also the other way round: while loads
 * are slow, queues run dry and more workers load.)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FLIGHT_MOST 50000 /* most loads that are looked at, from the first on */

/* One load whose times are known; loads stand in order of (epoch, batch). */
struct flight_load {
	int64_t begin_ns;
	int64_t load_ns, cpu_ns;
	int32_t epoch;
	int32_t samples; /* samples in the batch; -1: unknown */
};

struct flight {
	size_t load_count;  /* number of loads in the fit */
	double growth;      /* power of the loads under way by which time off the CPU grows */
	double z;           /* growth divided by its standard error */
	double few, many;   /* fewest and most loads that were under way at once */
	double limit_per_s; /* batches a second of all workers; NAN: no limit was found */
};

/* Looks for a limit that loads share; `workers` is how many load. 0 or -ENOMEM. */
int flight_find(const struct flight_load *loads, size_t count, int32_t workers, struct flight *ret);
