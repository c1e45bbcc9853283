/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alive.h - whether a recording process lives, and by what numbers it is known.
 *
 * The process may be in another PID namespace than ours, and /proc may belong to another namespace,
 * hide the process, or be absent: a number then means another process, or none. So a number is used
 * only if the process with it has the right start time, and a process counts as dead only if that
 * process ended, its lock is gone (DLPROF_SEGMENT_LOCKED), or its own namespace has no such
 * process. If none of this can be known, it lives until it says that it ends or, as a child, until
 * the run's first process has ended.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/segment.h"

struct alive {
	const struct dlprof_header *header;
	int fd;			/* descriptor of the process's segment file */
	/* pidfd of the process; -1: none, or its number does not lead to it */
	int pidfd;
	/* the process's numbers for system calls and in /proc, from the header as first read */
	int32_t pid, proc_pid;
	uint64_t start_ticks;
	/* the process was found by its number when the segment was opened */
	bool is_found;
	bool is_near;		/* the process is in our namespace, on this machine */
};

void alive_begin(struct alive *alive, const struct dlprof_header *header, int fd);
void alive_end(struct alive *alive);

/* Whether the process lives; `is_root_gone`: the process that started the run has ended. */
bool alive_now(const struct alive *alive, bool is_root_gone);

/* Whether a live process has become another program; false if that cannot be known. */
bool alive_is_other(const struct alive *alive);

/* Returns the process's exit status, as of waitpid(); -1: not known. */
int alive_exit_status(const struct alive *alive);

/* Whether a thread of the process may live; false only if it has certainly ended. */
bool alive_has_thread(const struct alive *alive, uint32_t tid);

/* Returns a process's number in our /proc (`pid` is for system calls); 0: it is not found. */
int32_t alive_number(const struct alive *alive);

/* Returns the start time of a process by the kernel; 0: there is none, or it is a zombie. */
uint64_t alive_start_ticks(int32_t pid);
