/* SPDX-License-Identifier: Apache-2.0 */
/* waits.h - counts what loads wait for, by kind and peer, in all time of DLPROF_CLASS_WAIT. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

enum wait_kind {
#define WAIT_KIND(id, name, meaning) WAIT_##id,
#include "dlprof/wait_kinds.def"
#undef WAIT_KIND
	WAIT_KIND_MAX
};

/* the peer of a shorter wait is not looked up, which would take longer than the wait */
#define WAITS_LEAST_NS 20000

void waits_add(struct thread *thread, enum wait_kind kind, uint64_t ns);

/* Counts a load's page faults, and the time that they may have taken, if a data file is mapped. */
void waits_add_faults(struct thread *thread, uint64_t count, uint64_t ns);

/* Sets `find`, which returns the path of the mapped data file; "": several, NULL: none. */
void waits_on_faults(const char *(*find)(void));

/* Counts a wait for `fd`, and `bytes` even if the wait was short. */
void waits_add_fd(struct thread *thread, int fd, uint64_t ns, uint64_t bytes);

/* Counts a write() that waited until the other side of a pipe, socket or terminal had read. */
void waits_add_write(struct thread *thread, int fd, uint64_t ns, uint64_t bytes);

/* Counts a wait for a file's lock. `is_held`: the lock was taken, and the call gave up at once. */
void waits_add_lock(struct thread *thread, int fd, uint64_t ns, bool is_held);

/*
 * Notes that a load tried to take the lock at `path`. Sleep between a try that failed and the next
 * try counts as a wait for that lock.
 */
void waits_try(struct thread *thread, const char *path, bool is_held);

/* Counts bytes from a socket that no load received itself. A load may wait for their receiver. */
void waits_received(uint64_t bytes);

/* Begins a load: what other threads received before the load does not count. */
void waits_begin(void);

/*
 * Ends a load. Sleeps since the last try for a lock count as plain sleeps. Bytes that other threads
 * received from sockets during the load count as WAIT_THREAD.
 */
void waits_end(struct thread *thread);
