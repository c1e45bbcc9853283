/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours.h - finds which other programs compete for the run's cores, and with what weight.
 *
 * The scheduler divides busy cores by weight. So the time in which programs ran or were ready is
 * added up, by weight within the run's own group, and by group for other groups. A *look* reads
 * these times from /proc now and then. A process that lived only between two looks, or in another
 * PID namespace, is not seen.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/machine/cpus.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

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
	double ran_ns, waited_ns; /* sums over the processes that two looks saw */
};

struct neighbours {
	struct neighbour *list; /* processes at the last look, sorted by pid */
	size_t count;
	uint64_t seen_ns, next_ns;
	uint64_t pause_ns; /* pause that keeps the CPU time of looks below its limit */
	uint64_t all_ns;   /* time of the last look at all processes; 0: none */
	int64_t others_ns; /* others' CPU time at the last look at all processes */
	bool is_new;       /* no batch has come since the last look */
	struct cpus_group group;
	int nice;
	bool is_known;
	struct neighbour_kind kinds[NEIGHBOURS_KINDS];
	size_t kind_count;
	double of_ns;
	double main_ns;
	double helper_ns; /* time that the busiest helper (neighbours.c) ran, or could have run */
	/* Times of main threads: [0] of the run's first process, [1] sums over its workers. */
	double ran_ns[2], waited_ns[2];
};

/*
 * Makes a look if one is due, and counts from the first batch to the last. Writes these facts:
 * `neighbours` with "t WEIGHT RAN WANTED" for other threads, or "g WEIGHT RAN WANTED" for a group,
 * separated by ";", in cores; the CPU time of the main process, and how long it and workers ran and
 * waited; how long the busiest helper ran or could have run.
 */
int neighbours_update(struct neighbours *neighbours, struct writer *writer,
		      struct segment *const *segments, size_t count, int64_t others_ns,
		      uint64_t now_ns);

void neighbours_done(struct neighbours *neighbours);
