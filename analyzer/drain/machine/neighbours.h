/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours.h - finds which other programs compete for the run's cores, and with what weight.
 *
 * The scheduler divides a busy core by weight. So the time for which programs ran or waited for a
 * core is added up: of threads in the run's own group for each weight, of all others for each
 * group. Times are read from /proc now and then. A process is not seen if it lives only between two
 * readings, or in another PID namespace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/machine/cpus.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

/*
 * How much of the run's cores others use: programs, other ranks, a hypervisor. It is the busy time
 * of the cores minus the CPU time of the run's recording processes. If one of these came or went
 * between two readings, the time between the readings is left out.
 */
struct cores {
	uint64_t looked_ns;
	bool is_known; /* the run's CPU time was known at looked_ns */
	uint64_t who;  /* checksum of the run's processes at looked_ns */
	int64_t busy_ns;
	int64_t used_ns;
	int64_t others_ns; /* CPU time of others on the run's cores, in the time that is known */
	int64_t of_ns;
	int64_t most_ns; /* most that the CPU time of others can be, since the start */
};

/*
 * If due, measures and writes the meta rows other_cpu_ns and other_cpu_of_ns. `opened`: number of
 * segments opened so far, which tells of processes that lived only between two readings.
 */
int cores_update(struct cores *cores, struct writer *writer, struct segment *const *segments,
		 size_t count, uint64_t opened, uint64_t now_ns);

#define NEIGHBOURS_GROUPS  12
#define NEIGHBOURS_WEIGHTS 4 /* number of weights that are told apart in the run's own group */
#define NEIGHBOURS_KINDS   (NEIGHBOURS_GROUPS + NEIGHBOURS_WEIGHTS)

struct neighbour;

struct neighbour_kind {
	/* false: the kind is the threads of one weight in the run's own group */
	bool is_group;
	uint64_t who;
	double weight; /* scheduler's weight, relative to the run's */
	double used_ns;
	double ran_ns, waited_ns; /* sums over processes that were read at least twice */
};

struct neighbours {
	struct neighbour *list; /* processes of the last reading, sorted by pid */
	size_t count;
	uint64_t seen_ns, next_ns;
	uint64_t pause_ns; /* least pause to the next reading, to keep the limit of CPU time */
	uint64_t all_ns;   /* when all processes were last read; 0: not yet */
	int64_t others_ns; /* cores.others_ns at all_ns */
	bool is_new;       /* true: no batch has come since processes were read */
	struct cpus_group group;
	int nice;
	bool is_known;
	struct neighbour_kind kinds[NEIGHBOURS_KINDS];
	size_t kind_count;
	double of_ns;
	double main_ns;
	double helpers_ns; /* CPU time of all helpers */
	double helper_ns; /* time that the busiest helper ran or waited for a core */
	/* of main threads: [0] of the run's first process, [1] summed over its workers */
	double ran_ns[2], waited_ns[2];
};

/*
 * Reads processes if due, from the first batch to the last. Writes the meta rows main_* and
 * worker_*, the busiest helper's time, and `neighbours`: "t WEIGHT RAN WANTED" (in cores) for
 * threads in the run's own group, "g WEIGHT RAN WANTED" for another group, with ";" between two.
 */
int neighbours_update(struct neighbours *neighbours, struct writer *writer,
		      struct segment *const *segments, size_t count, int64_t others_ns,
		      uint64_t now_ns);

void neighbours_done(struct neighbours *neighbours);
