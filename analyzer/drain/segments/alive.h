/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alive.h - finds out whether a recording process lives, and its pids.
 *
 * The process may be in another PID namespace, and /proc may show another namespace, hide the
 * process, or be absent. Then the recorded pid means another process, or none. So a pid is used
 * only if the process there has the recorded start time.
 *
 * A recording process counts as dead if the process found by its pid has ended, if its lock is gone
 * (DLPROF_SEGMENT_LOCKED), or if no process of its namespace has its pid. If none of this can be
 * known, it lives until it says that it ends or, for a child, until the run's first process ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/segment.h"

struct alive {
	const struct dlprof_header *header;
	int fd;
	/* -1: pidfd_open() failed, or `pid` means another process here */
	int pidfd;
	/* pids from the header: `pid` for system calls, `proc_pid` in /proc */
	int32_t pid, proc_pid;
	uint64_t start_ticks;
	/* the process was found by its pid when the segment was opened */
	bool is_found;
	bool is_near; /* the process is in our PID namespace, on this machine */
};

void alive_begin(struct alive *alive, const struct dlprof_header *header, int fd);
void alive_end(struct alive *alive);

/* Returns true if the process lives. `is_root_gone`: the run's first process has ended. */
bool alive_now(const struct alive *alive, bool is_root_gone);

/* Returns true if the process now runs another program; false also if that is unknown. */
bool alive_is_other(const struct alive *alive);

/* Returns the exit status, as waitpid() would, or -1 if it is unknown. */
int alive_exit_status(const struct alive *alive);

/* Returns false only if the thread has certainly ended. */
bool alive_has_thread(const struct alive *alive, uint32_t tid);

/* Returns the pid in our /proc; alive->pid is for system calls. 0: /proc does not show it. */
int32_t alive_number(const struct alive *alive);

/* Returns when a process began, in ticks since boot; 0: it is a zombie, or there is none. */
uint64_t alive_start_ticks(int32_t pid);
