/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.h - what the writing thread sends to the drain, and what it counts of that. */
#pragma once

#include <stdint.h>

#include "base/sys.h"
#include "dlprof/event.h"

/* Records of CUPTI's since the beginning; the rest is known by others (see outbox_state()). */
struct outbox_counts {
	uint64_t records;
	uint64_t bad; /* whose times cannot be */
	uint64_t overhead_ns;
};

extern HIDDEN struct outbox_counts outbox_counts;

/*
 * Sends a record of operations or copies. Waits for the drain, which this thread may: up to a
 * second, and not again until it moved; then they are dropped and counted.
 */
void outbox_push(const struct dlprof_event *event);

/* What is known of the GPU as of `when_ns`, with all counts. `why`: may be NULL. */
void outbox_state(enum dlprof_gpu_state_kind state, uint64_t when_ns, const char *why);
