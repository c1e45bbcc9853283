/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - the load of one batch, begin to end, with what the thread did meanwhile.
 *
 * A load may have threads of its own: pools, or those of a library. Which load a thread works for
 * is not known. But where a process loads one batch at a time, on its first thread, as DataLoader's
 * workers do, the load is charged with what other threads open, read and decode during it: counts
 * and bytes, but no time, since they run side by side.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/segment.h"
#include "record/thread.h"

struct scope_load {
	struct dlprof_counter before[DLPROF_CLASS_MAX];
	uint32_t life;
	uint64_t begin_ns;
	uint64_t cpu_ns;
	uint32_t storage_blocks;
	struct dlprof_counter others[DLPROF_CLASS_MAX];
	bool others_read; /* before its begin */
	bool alone;       /* on the first thread, and no other load was under way */
	uint32_t overlaps;
	uint32_t import_depth;   /* around it: a module that trains while it is imported */
	uint32_t process_blocks; /* if so */
};

/* Of the batch that thread->stream, generation and task name. */
void scope_load_begin(struct thread *thread, struct scope_load *load);

/* `samples`: 0 if not known. Writes the record. */
void scope_load_end(struct thread *thread, const struct scope_load *load, uint32_t samples,
		    bool failed);

/* Instead of the end: nothing was loaded. */
void scope_load_cancel(struct thread *thread, const struct scope_load *load);

/* `look` is called before each load: libraries may have been loaded unseen since the last. */
void scope_on_load(void (*look)(void));

/* From now on this process's decoders are wrapped: that none was called is then an observation. */
void scope_decoders_reached(void);

/* This process leaves some decoders unwrapped, so that none was called says nothing. */
void scope_decoders_missed(bool missed);
