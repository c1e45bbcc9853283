/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight.h - is what the loads wait for shared, as a server that answers so many requests a second?
 *
 * Then a load takes the longer the more others are under way; a load that waits for itself alone
 * does not. Towards the end of an epoch fewer and fewer loads are under way, whatever made them
 * slow: there, and only there, the two are compared with each other. (In the midst of an epoch it
 * is as well the other way round: while loads are slow, queues run dry and more workers load.)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FLIGHT_MOST 50000 /* loads; of a longer run the first ones are looked at */

/* One load, of which all is known; loads stand in order of (epoch, batch). */
struct flight_load {
	int64_t begin_ns;
	int64_t load_ns, cpu_ns;
	int32_t epoch;
	int32_t samples; /* -1: unknown */
};

struct flight {
	size_t load_count;  /* that were compared */
	double growth;      /* of time outside of the CPU: 1: in proportion to the loads, 0: none */
	double z;           /* ... over its standard error */
	double few, many;   /* loads under way at once, on average, of the least and the most */
	double limit_per_s; /* batches that all workers together get; NAN: no limit was found */
};

/* `workers`: that load. 0 or -ENOMEM. */
int flight_find(const struct flight_load *loads, size_t count, int32_t workers, struct flight *ret);
