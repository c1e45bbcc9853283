/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - what the time of the loads went to: which part of a load to begin with. */
#pragma once

#include <stdbool.h>

/* Sums over the same loads, in ns; NAN: not observed. */
struct load_times {
	double load_ns, cpu_ns, open_ns, read_ns, decode_ns, collate_ns;
	double other_ns;   /* load less open, read, decode, collate */
	double blocked_ns; /* of other: asleep in locks, queues, sleep() */
	double read_count, read_bytes, samples;
	double storage_bytes; /* that a device was asked for, mapped files included */
};

struct load_split {
	double cpu_ns;		/* other, running */
	double blocked_ns;	/* other, not running: asleep, in page faults, or without a core */
};

/*
 * A thread that does not run in a load (load - cpu) is in a read or open, in a wait that was seen,
 * or somewhere in decode, collate and other: for want of a core, or in a page fault of mmap'ed
 * data. That rest is shared out over those three by their length. Both NAN if CPU or load was not
 * seen.
 */
struct load_split load_split(const struct load_times *times);

#define LOAD_LEAST       0.4     /* of a load's time: a smaller part is not where to begin */
#define LOAD_SMALL_BYTES 16384.0 /* a read; below it the call costs what the bytes do */
#define LOAD_SMALL_READS 8.0     /* a sample */

/* Shares of the loads' time: 0 where it is not known, or none. */
double load_decode_share(const struct load_times *times);
double load_read_share(const struct load_times *times); /* with opening */

/* Most of a load's reads are small, and many. */
bool load_reads_small(const struct load_times *times);

/* Whether loads are known not to have touched any file. */
bool load_reads_nothing(const struct load_times *times);
