/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - records the load of a batch, and what the loading thread did during the load.
 *
 * What other threads did is added only if the process loads one batch at a time, in its main
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/segment.h"
#include "record/thread.h"

struct scope_load {
	struct dlprof_counter before[DLPROF_CLASS_MAX];
	uint32_t life;
	struct thread_used used; /* what the kernel had counted for the thread before the load */
	struct dlprof_counter others[DLPROF_CLASS_MAX];
	bool others_read; /* other threads of this process had read or decoded before the load */
	bool alone;
	uint32_t overlaps;
	/* depth of imports around the load; within the load it is 0, so that decoding counts */
	uint32_t import_depth;
	uint32_t process_blocks;
};

/* Returns what this thread has used until `now_ns` (0: until now). */
struct thread_used scope_used(struct thread *thread, uint64_t now_ns);

/* Begins the load of the batch that the thread's `stream`, `generation` and `task` name. */
void scope_load_begin(struct thread *thread, struct scope_load *load);

/* Ends a load and writes its record. `samples` 0: unknown. */
void scope_load_end(struct thread *thread, const struct scope_load *load, uint32_t samples,
		    bool failed);

/* Ends a load without a record, because nothing was loaded. */
void scope_load_cancel(struct thread *thread, const struct scope_load *load);

/* Sets a function to call before each load. It finds libraries that were loaded unnoticed. */
void scope_on_load(void (*look)(void));

/* Notes that decoders are wrapped, so that a decode_count of 0 means that nothing was decoded. */
void scope_decoders_reached(void);

/* Notes whether some decoder is not wrapped, so that a decode_count of 0 proves nothing. */
void scope_decoders_missed(bool missed);
