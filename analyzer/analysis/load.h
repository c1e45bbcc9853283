/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - what the part of a load's time that nothing else claims was spent on. */
#ifndef LOAD_H
#define LOAD_H

/* Sums over the same loads, in ns; NAN: not observed. */
struct load_times {
	double load_ns, cpu_ns, open_ns, read_ns, decode_ns, collate_ns;
	double other_ns;	/* load less open, read, decode, collate */
	double blocked_ns;	/* of other: asleep in locks, queues, sleep() */
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

#endif
