/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - divides the time of loads into parts, to find the part to shorten first. */
#pragma once

#include <stdbool.h>

/* Sums over the same loads; times in ns. NAN: not observed. */
struct load_times {
	double load_ns, cpu_ns, open_ns, read_ns, decode_ns, collate_ns;
	double other_ns;   /* load_ns minus open, read, decode and collate */
	double blocked_ns; /* part of other_ns asleep in locks, queues, sleep() */
	double read_count, read_bytes, samples;
	double storage_bytes; /* bytes that loads read from storage devices, also through mapped
			       * files */
};

struct load_split {
	double cpu_ns;		/* part of other_ns in which the thread ran */
	double blocked_ns;	/* part of other_ns not running: asleep, page faults, no core */
};

/*
 * Divides other_ns into running and not running. A thread does not run for load_ns - cpu_ns. The
 * time in open, read and observed waits is subtracted; what is left (no free core, or page faults
 * of mapped data) happened in decode, collate or other, and is divided among these three in
 * proportion to their length. Both members are NAN if CPU time or load time was not observed.
 */
struct load_split load_split(const struct load_times *times);

#define LOAD_LEAST       0.4     /* a part with a smaller share of the loads' time is not worth
				  * shortening first */
#define LOAD_SMALL_BYTES 16384.0 /* reads with a smaller mean size cost as much for the call as for
				  * the bytes */
#define LOAD_SMALL_READS 8.0     /* reads are many if a sample needs at least this many */

/* Returns the share of the loads' time (0-1) spent in decoding, or 0 if it is unknown. */
double load_decode_share(const struct load_times *times);
double load_read_share(const struct load_times *times); /* reading and opening */

/* Returns true if the loads make many reads that are small on average. */
bool load_reads_small(const struct load_times *times);

/* Returns true if the loads spend more time on opening and listing files than on reading them. */
bool load_opens_most(const struct load_times *times);

/* Returns true if it is known that the loads touched no file. */
bool load_reads_nothing(const struct load_times *times);
