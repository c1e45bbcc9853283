/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use.h - the resources that loading and training processes use, read from outside: threads that
 * run at once, cores allowed, private memory, faults, and busy threads.
 *
 * All looks together take a part of a core that nobody notices, and get rarer in a long run. The
 * kernel needs 25 us a megabyte to count a process's private memory, so few processes are read.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct use_process;

/* Use of all processes; all zero at first. */
struct use {
	struct use_process *list;
	size_t count;
	uint64_t begun_ns, next_ns;
	uint64_t cost_ns, memory_cost_ns; /* CPU time of all looks so far */
};

/* Looks at the processes if that is due; writes t_use and t_thread. Returns 0 or -errno. */
int use_update(struct use *use, struct writer *writer, struct segment *const *segments,
	       size_t count, uint64_t now_ns);

void use_done(struct use *use);
