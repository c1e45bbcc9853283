/* SPDX-License-Identifier: Apache-2.0 */
/* waits.h - what loads wait for, by kind and peer: parts of DLPROF_CLASS_WAIT. */
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

/* Waits below this get no peer's name, since finding it would take longer than the wait. */
#define WAITS_LEAST_NS 20000

void waits_add(struct thread *thread, enum wait_kind kind, uint64_t ns);

/* Counts a load's page faults, and the time that they may have taken, if a data file is mapped. */
void waits_add_faults(struct thread *thread, uint64_t count, uint64_t ns);

/* `find` returns the path of the mapped data file, "" if there are several, NULL if none is. */
void waits_on_faults(const char *(*find)(void));

/* Counts a wait for `fd`, and `bytes` even if the wait was short. */
void waits_add_fd(struct thread *thread, int fd, uint64_t ns, uint64_t bytes);

/* Counts a write() that waited until the other side of a pipe, socket or terminal had read. */
void waits_add_write(struct thread *thread, int fd, uint64_t ns, uint64_t bytes);

/* Counts a wait for a file's lock. `is_held`: the call gave up at once, as the lock was taken. */
void waits_add_lock(struct thread *thread, int fd, uint64_t ns, bool is_held);

/*
 * Notes a try for the lock at `path`, in a load. The thread's sleeps between a try that failed and
 * the next one for the same lock count as waits for that lock.
 */
void waits_try(struct thread *thread, const char *path, bool is_held);

/* At a load's end: counts sleeps since the last try as plain sleeps, not as waits for a lock. */
void waits_settle(struct thread *thread);
