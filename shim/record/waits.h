/* SPDX-License-Identifier: Apache-2.0 */
/* waits.h - what loads wait for, by kind and peer: parts of DLPROF_CLASS_WAIT. */
#pragma once

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

/* Counts a wait for `fd`, and `bytes` even if the wait was short. */
void waits_add_fd(struct thread *thread, int fd, uint64_t ns, uint64_t bytes);

void waits_add_lock(struct thread *thread, int fd, uint64_t ns);
