/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - divides the time of loads into parts. */
#pragma once

#include <stdbool.h>

/* Times of loads, each a sum over the same loads. NAN: not observed. */
struct load_times {
	double load_ns, cpu_ns, open_ns, read_ns, decode_ns, collate_ns;
	double other_ns;   /* load_ns without open, read, decode and collate */
	double blocked_ns; /* part of other_ns that was asleep in locks, queues or sleep() */
	double read_count, read_bytes, samples;
	double storage_bytes; /* bytes read from storage devices, also through mapped files */
};

struct load_split {
	double cpu_ns;
	double blocked_ns;
};

/*
 * Divides other_ns into CPU time and blocked time; NAN: unknown. A load is idle in time in which it
 * neither computes, opens, reads nor is known to be blocked. Idle time is taken to be spread evenly
 * over decode, collate and the rest of other_ns; its part in that rest counts as blocked.
 */
struct load_split load_split(const struct load_times *times);

/* decoding, or reading, is worth advice only if it takes this share of the load time */
#define LOAD_LEAST       0.4
/* reads are small if they have at most this many bytes on average */
#define LOAD_SMALL_BYTES 16384.0
#define LOAD_SMALL_READS 8.0     /* small reads matter if a sample needs at least this many reads */

/* Return which part of the loads' time (0 to 1) is decoding, or opening and reading; 0: unknown. */
double load_decode_share(const struct load_times *times);
double load_read_share(const struct load_times *times);

/* Moves `share` (0 to 1) of the loads' time from decoding (at most all of it) to blocked time. */
void load_take_waits(struct load_times *times, double share);

bool load_reads_small(const struct load_times *times);

bool load_opens_most(const struct load_times *times);

/* Returns true if half of the loads' time or more is reading, mostly from storage devices. */
bool load_reads_devices(const struct load_times *times);

/* Returns true if it is known that the loads touched no file. */
bool load_reads_nothing(const struct load_times *times);
