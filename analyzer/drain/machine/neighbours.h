/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours.h - who else wants the run's cores, and with what weight.
 *
 * What a run gets of busy cores follows from the scheduler's weights, so it is not enough to know
 * how long others ran: a program of nice 19 takes what is left, one of equal priority its share,
 * one of another group or session a share of its group. For programs that ran since the last look,
 * the time in which they ran or could have run is added up: by weight within the run's own group,
 * by group for others. The same is known of the run's own processes.
 *
 * A process that lived between two looks only, or in another PID namespace, is not seen.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/machine/cpus.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

#define NEIGHBOURS_GROUPS  12
#define NEIGHBOURS_WEIGHTS 4 /* weights of threads in the run's own group */
#define NEIGHBOURS_KINDS   (NEIGHBOURS_GROUPS + NEIGHBOURS_WEIGHTS)

struct neighbour;

/* Others that the scheduler treats alike. */
struct neighbour_kind {
	bool is_group; /* another group than the run's; else threads of this weight */
	uint64_t who;
	double weight; /* relative to the run's */
	double used_ns;
	double ran_ns, waited_ns; /* sums over processes that two looks saw */
};

struct neighbours {
	struct neighbour *list; /* sorted by pid, as last seen */
	size_t count;
	uint64_t seen_ns, next_ns;
	uint64_t pause_ns; /* pause after a look, by the cost of the looks */
	uint64_t all_ns;   /* last look at all processes; 0: none */
	int64_t others_ns; /* what others had used by then */
	bool is_new;       /* no batch came after the last look so far */
	struct cpus_group group; /* the run's group */
	int nice;
	bool is_known;
	struct neighbour_kind kinds[NEIGHBOURS_KINDS];
	size_t kind_count;
	double of_ns;
	double main_ns; /* CPU time of the run's first process, all threads */
	/* First threads of the run's processes: [0] of the first process, [1] of its workers. */
	double ran_ns[2], waited_ns[2];
};

/*
 * Looks if it is time, and writes `neighbours` of meta: "t W RAN WANTED" for threads and "g ..."
 * for groups, in cores, separated by ";"; and `main_cpu_ns` of `main_cpu_of_ns`, `main_ran_ns`,
 * `main_waited_ns`, `workers_ran_ns`, `workers_waited_ns`. Time before the first batch and after
 * the last does not count: it would look like a part of the steps. `others_ns` is cores_update()'s
 * `most_ns`.
 */
int neighbours_update(struct neighbours *neighbours, struct writer *writer,
		      struct segment *const *segments, size_t count, int64_t others_ns,
		      uint64_t now_ns);

void neighbours_done(struct neighbours *neighbours);
