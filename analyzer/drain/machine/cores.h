/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.h - how much of a run's cores others take: other programs, other ranks, a hypervisor.
 *
 * More workers could not have that part. It is what the cores were busy, less what the run's
 * recording processes used, between two looks that saw the same processes: the time of one that
 * came or went in between cannot be had. What a process starts without recording it, such as a
 * decoder program, counts as others'.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct cores {
	uint64_t looked_ns; /* time of the last look; 0: none yet */
	bool is_known;      /* use at that look is known */
	uint64_t who;     /* checksum of the processes that were there */
	int64_t busy_ns;
	int64_t used_ns;
	int64_t others_ns; /* core time that others used, ... */
	int64_t of_ns;     /* ... in this time */
	int64_t most_ns;   /* upper bound of others' use, also while that is unknown */
};

/* Looks if it is time, and writes `other_cpu_ns` and `other_cpu_of_ns` of meta. */
int cores_update(struct cores *cores, struct writer *writer, struct segment *const *segments,
		 size_t count, uint64_t now_ns);
