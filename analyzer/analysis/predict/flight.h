/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight.h - finds out whether loads wait for something that they share, such as a server that
 * limits requests.
 *
 * If they do, a load takes longer the more other loads are under way; otherwise it does not. Only
 * the ends of epochs are looked at, where fewer and fewer loads are under way whatever made them
 * slow. (Within an epoch, cause and effect may be the other way round: while loads are slow, queues
 * run empty and more workers load.)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FLIGHT_MOST 50000 /* only the first this many loads are looked at */

/* A load with known times. Loads are in order of (epoch, batch). */
struct flight_load {
	int64_t begin_ns;
	int64_t load_ns, cpu_ns;
	int32_t epoch;
	int32_t samples; /* samples in the batch; -1: unknown */
};

struct flight {
	size_t load_count;  /* number of loads in the fit */
	double growth;      /* time off the CPU grows with this power of the loads under way */
	double z;           /* growth divided by its standard error */
	double few, many;   /* smallest and largest number of loads under way at once */
	double limit_per_s; /* batches a second of all workers; NAN: no limit was found */
};

/* Looks for a shared limit. `workers` is the number of workers that load. 0 or -ENOMEM. */
int flight_find(const struct flight_load *loads, size_t count, int32_t workers, struct flight *ret);
