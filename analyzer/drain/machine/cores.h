/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.h - measures how much others use a run's cores: programs, other ranks, a hypervisor.
 *
 * Others' use is the cores' busy time minus the CPU time of the run's recording processes. It is
 * unknown while a process comes or goes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct cores {
	uint64_t looked_ns;
	bool is_known; /* the run's CPU time was known at looked_ns */
	uint64_t who;  /* checksum of the processes at looked_ns */
	int64_t busy_ns;
	int64_t used_ns;
	int64_t others_ns; /* core time of others, while it could be measured */
	int64_t of_ns;
	int64_t most_ns; /* upper bound of others' core time since the start */
};

/* Measures if that is due, and writes `other_cpu_ns` and `other_cpu_of_ns` of meta. */
int cores_update(struct cores *cores, struct writer *writer, struct segment *const *segments,
		 size_t count, uint64_t now_ns);
