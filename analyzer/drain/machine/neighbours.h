/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours.h - who else wants the run's cores, and with what right.
 *
 * What a run gets of busy cores follows from the scheduler's weights, so that it is not enough to
 * know how long others ran: a program of nice 19 takes what is left, one of equal priority its
 * share, one of another group or session a share of its group. Of those that ran since the last
 * look, the time for which they ran or could have run is added up by weight, and by group for
 * other groups than the run's own. The same is known of the run's own processes.
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
#define NEIGHBOURS_WEIGHTS 4 /* of threads of the run's own group */
#define NEIGHBOURS_KINDS   (NEIGHBOURS_GROUPS + NEIGHBOURS_WEIGHTS)

struct neighbour;

/* Those that the scheduler treats alike. */
struct neighbour_kind {
	bool is_group; /* another one than the run's; else single threads of this weight */
	uint64_t who;
	double weight; /* over the run's */
	double used_ns;
	double ran_ns, waited_ns; /* of a part of that time: who was seen before */
};

struct neighbours {
	struct neighbour *list; /* by pid; as they were at the last look at each */
	size_t count;
	uint64_t seen_ns, next_ns;
	uint64_t pause_ns; /* after the looks so far, for what they cost */
	uint64_t all_ns;   /* the last look at all of them, not only at the run's own; 0: none */
	int64_t others_ns; /* what others had used by then */
	bool is_new;       /* the last look: no batch came after it so far */
	struct cpus_group group; /* the run's */
	int nice;
	bool is_known;
	struct neighbour_kind kinds[NEIGHBOURS_KINDS];
	size_t kind_count;
	double of_ns;
	double main_ns; /* CPU time of the process that started the run, all its threads */
	/* Of the first threads of the run's processes: that one's, and its workers'. */
	double ran_ns[2], waited_ns[2];
};

/*
 * A look if it is time for one, and what is known by now: `neighbours` of meta, "t W RAN WANTED" of
 * threads and "g ..." of groups, in cores, separated by ";", `main_cpu_ns` of `main_cpu_of_ns`, and
 * `main_ran_ns`, `main_waited_ns`, `workers_ran_ns`, `workers_waited_ns`. From the first batch to
 * the last: what a program does before and afterwards, such as taking its libraries down, would
 * look like a part of its steps. `others_ns`: cores_update()'s `most_ns`.
 */
int neighbours_update(struct neighbours *neighbours, struct writer *writer,
		      struct segment *const *segments, size_t count, int64_t others_ns,
		      uint64_t now_ns);

void neighbours_done(struct neighbours *neighbours);
