/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.h - sends records of the writing thread to the drain, and counts them. */
#pragma once

#include <stdint.h>

#include "base/sys.h"
#include "dlprof/event.h"

struct outbox_counts {
	uint64_t records;
	uint64_t bad; /* number of records with impossible times */
	uint64_t overhead_ns;
};

extern HIDDEN struct outbox_counts outbox_counts;

/* Sends a record. Waits a second for room in the ring, then drops records until the drain reads. */
void outbox_push(const struct dlprof_event *event);

/* Tells the drain the state of knowledge about the GPU at `when_ns`, and why (NULL: no reason). */
void outbox_state(enum dlprof_gpu_state_kind state, uint64_t when_ns, const char *why);
