/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use.h - measures what loading and training processes use: threads, cores, memory, faults.
 *
 * The numbers are read from /proc now and then. Counting private memory takes the kernel 25 us per
 * megabyte, so this is done for few processes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct use_process;

/* Must be all zero at first. */
struct use {
	struct use_process *list;
	size_t count;
	uint64_t begun_ns, next_ns;
	uint64_t cost_ns, memory_cost_ns;
	/* CPU time of programs that loading processes started, and how long loads took meanwhile */
	int64_t children_ns, children_of_ns;
	bool has_workers; /* the run has or had workers */
};

/* Reads if due. Writes t_use, t_thread and the meta rows children_cpu_ns, children_cpu_of_ns. */
int use_update(struct use *use, struct writer *writer, struct segment *const *segments,
	       size_t count, uint64_t now_ns);

void use_done(struct use *use);
