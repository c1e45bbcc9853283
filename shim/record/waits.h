/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.h - what loads wait for, by kind and peer: tallies in the thread's slot. Their sum is a
 * part of DLPROF_CLASS_WAIT, which also counts waits too short to be named.
 */
#pragma once

#include <stdint.h>

#include "record/thread.h"

enum wait_kind {
#define WAIT_KIND(id, name, meaning) WAIT_##id,
#include "dlprof/wait_kinds.def"
#undef WAIT_KIND
	WAIT_KIND_MAX
};

/* Shorter waits are not tallied: finding their peer would take longer. */
#define WAITS_LEAST_NS 20000

/* Counts a wait for something without a name. */
void waits_add(struct thread *thread, enum wait_kind kind, uint64_t ns);

/* Counts a wait for the peer behind a descriptor, and `bytes` from it, even after a short wait. */
void waits_add_fd(struct thread *thread, int fd, uint64_t ns, uint64_t bytes);

/* Counts a wait for a lock on the file behind a descriptor. */
void waits_add_lock(struct thread *thread, int fd, uint64_t ns);
