/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alive.h - whether a recording process lives, and by what numbers it can be asked for.
 *
 * It may be in another PID namespace than ours, and /proc may belong to another namespace, hide it,
 * or be absent: a number then means another process, or none. So a process is asked for by number
 * only where its start time is found under it, and counts as dead only if that process ended, its
 * lock is gone (DLPROF_SEGMENT_LOCKED), or its own namespace has no such process. Where none of
 * this can be known, it lives until it says that it ends, or, as a child, until the run's first
 * process has ended.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/segment.h"

struct alive {
	const struct dlprof_header *header;
	int fd;			/* descriptor of its segment's file */
	int pidfd;		/* -1: there is none, or its number does not lead to it */
	int32_t pid, proc_pid;	/* numbers as they were first in the header */
	uint64_t start_ticks;
	bool is_found;		/* found by its number when the segment was opened */
	bool is_near;		/* the process is in our namespace, on this machine */
};

void alive_begin(struct alive *alive, const struct dlprof_header *header, int fd);
void alive_end(struct alive *alive);

/* `is_root_gone`: the process that started the run has ended. */
bool alive_now(const struct alive *alive, bool is_root_gone);

/* Whether a process that lives has become another program: false where that cannot be known. */
bool alive_is_other(const struct alive *alive);

/* Its exit status, as of waitpid(); -1: not known. */
int alive_exit_status(const struct alive *alive);

/* Whether a thread may live; false only if it has surely ended. */
bool alive_has_thread(const struct alive *alive, uint32_t tid);

/* Its number in our /proc now, where `pid` is for system calls. 0: it is not found. */
int32_t alive_number(const struct alive *alive);

/* The start time of a process by the kernel; 0: there is none, or it is a zombie. */
uint64_t alive_start_ticks(int32_t pid);
