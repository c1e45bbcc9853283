/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.h - how much of a run's cores others use: other programs, other ranks, a hypervisor.
 *
 * More workers could not have that part. It is the time in which the cores were busy, less the time
 * that the run's recording processes used, between two measurements that saw the same processes:
 * the time of a process that came or went in between is unknown. A process that the run starts and
 * that does not record, such as a decoder program, counts as others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct cores {
	uint64_t looked_ns; /* time of the last measurement; 0: none yet */
	bool is_known;      /* the processes' CPU time was known at that time */
	uint64_t who;     /* checksum of the processes that were there then */
	int64_t busy_ns;
	int64_t used_ns;
	int64_t others_ns; /* core time that others used, in `of_ns` */
	int64_t of_ns;     /* time over which others_ns was measured */
	int64_t most_ns;   /* upper bound of others_ns, known even when others_ns is not */
};

/* Measures if that is due, and writes `other_cpu_ns` and `other_cpu_of_ns` of meta. */
int cores_update(struct cores *cores, struct writer *writer, struct segment *const *segments,
		 size_t count, uint64_t now_ns);
