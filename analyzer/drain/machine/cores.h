/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.h - what of a run's cores others take: other programs, other ranks, a hypervisor.
 *
 * More workers cannot have that. Found as what the cores were busy less what the run's recording
 * processes used, between two looks at which these were the same: the time of one that came or went
 * in between is nowhere to be had. What a process starts and does not record, such as a decoder
 * program, counts as others'.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct cores {
	uint64_t looked_ns; /* the last look; 0: none yet */
	bool is_known;      /* what they had used then */
	uint64_t who;     /* tells the processes apart that were there */
	int64_t busy_ns;
	int64_t used_ns;
	int64_t others_ns; /* in all */
	int64_t of_ns;     /* ... in so much time */
	int64_t most_ns;   /* others used no more, also while it is not known how much */
};

/* A look, and what is known by now: `other_cpu_ns` and `other_cpu_of_ns` of meta. */
int cores_update(struct cores *cores, struct writer *writer, struct segment *const *segments,
		 size_t count, uint64_t now_ns);
