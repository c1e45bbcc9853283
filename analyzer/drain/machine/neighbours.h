/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours.h - finds which other programs compete for the run's cores, and with what weight.
 *
 * The scheduler divides busy cores by weight. So the time in which programs ran or waited for a
 * core is added up: for each weight in the run's own group, and for each other group. The times are
 * read from /proc now and then. A process that lives only between two readings, or in another PID
 * namespace, is not seen.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/machine/cpus.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

/*
 * How much of the run's cores others use: programs, other ranks, a hypervisor. This is the cores'
 * busy time minus the CPU time of the run's recording processes. It is unknown for the time between
 * two readings in which such a process came or went.
 */
struct cores {
	uint64_t looked_ns;
	bool is_known; /* the run's CPU time was known at looked_ns */
	uint64_t who;  /* checksum of the processes until looked_ns */
	int64_t busy_ns;
	int64_t used_ns;
	int64_t others_ns; /* core time of others, as far as it could be measured */
	int64_t of_ns;
	int64_t most_ns; /* upper bound of others' core time since the start */
};

/*
 * Measures if that is due, and writes `other_cpu_ns` and `other_cpu_of_ns` of meta. `opened`:
 * number of segments so far, which also shows processes that came and went between two readings.
 */
int cores_update(struct cores *cores, struct writer *writer, struct segment *const *segments,
		 size_t count, uint64_t opened, uint64_t now_ns);

#define NEIGHBOURS_GROUPS  12
#define NEIGHBOURS_WEIGHTS 4 /* number of scheduling weights told apart in the run's own group */
#define NEIGHBOURS_KINDS   (NEIGHBOURS_GROUPS + NEIGHBOURS_WEIGHTS)

struct neighbour;

struct neighbour_kind {
	/* false: threads of one weight in the run's own group */
	bool is_group;
	uint64_t who;
	double weight; /* relative to the run's weight */
	double used_ns;
	double ran_ns, waited_ns; /* sums over the processes that were read twice */
};

struct neighbours {
	struct neighbour *list; /* processes of the last reading, sorted by pid */
	size_t count;
	uint64_t seen_ns, next_ns;
	uint64_t pause_ns; /* least pause, by which readings stay below their CPU limit */
	uint64_t all_ns;   /* time of the last reading of all processes; 0: none */
	int64_t others_ns; /* cores.others_ns at that reading */
	bool is_new;       /* no batch has come since the last reading */
	struct cpus_group group;
	int nice;
	bool is_known;
	struct neighbour_kind kinds[NEIGHBOURS_KINDS];
	size_t kind_count;
	double of_ns;
	double main_ns;
	double helpers_ns; /* CPU time of all helpers */
	double helper_ns; /* time that the busiest helper (neighbours.c) ran, or could have run */
	/* times of main threads: [0] of the run's first process, [1] sums over its workers */
	double ran_ns[2], waited_ns[2];
};

/*
 * Reads if due, and counts from the first batch to the last. Writes meta rows: `neighbours` (in
 * cores, separated by ";": "t WEIGHT RAN WANTED" for threads of the run's own group, "g WEIGHT RAN
 * WANTED" for another group), main_* and worker_* times, and the busiest helper's time.
 */
int neighbours_update(struct neighbours *neighbours, struct writer *writer,
		      struct segment *const *segments, size_t count, int64_t others_ns,
		      uint64_t now_ns);

void neighbours_done(struct neighbours *neighbours);
