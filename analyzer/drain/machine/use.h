/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use.h - measures what loading and training processes use: threads, cores, memory, page faults.
 *
 * The numbers are read from /proc now and then. The kernel needs 25 us for each megabyte to count a
 * process's private memory, so this is asked of few processes.
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
	/* CPU time of programs that loads started, and duration of these loads */
	int64_t children_ns, children_of_ns;
	bool has_workers; /* the run has workers, or had some */
};

/* Reads if due. Writes t_use, t_thread, and the meta rows children_cpu_ns and _of_ns. */
int use_update(struct use *use, struct writer *writer, struct segment *const *segments,
	       size_t count, uint64_t now_ns);

void use_done(struct use *use);
