/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use.h - what the processes that load and train use, asked of the kernel from outside: threads
 * that run at once, cores allowed, memory of their own, faults, and which threads are busy.
 *
 * The looks together take no more than a part of a core that nobody notices; the longer the run,
 * the rarer they are. To ask for a process's own memory takes the kernel 25 us a megabyte, so that
 * it is asked of a few processes only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct use_process;

/* All zero at first. */
struct use {
	struct use_process *list;
	size_t count;
	uint64_t begun_ns, next_ns;
	uint64_t cost_ns, memory_cost_ns; /* CPU time of all looks so far */
};

/* A look if it is time for one; what came of it goes into t_use and t_thread. 0 or -errno. */
int use_update(struct use *use, struct writer *writer, struct segment *const *segments,
	       size_t count, uint64_t now_ns);

void use_done(struct use *use);
