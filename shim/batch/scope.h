/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - the load of one batch, from begin to end, with what its thread did meanwhile.
 *
 * A load may use further threads: pools, or those of a library. It is not known for which load such
 * a thread works. But if a process loads one batch at a time, on its first thread, as DataLoader's
 * workers do, the load also gets what other threads open, read and decode during it: counts and
 * bytes, but no time, since they run in parallel.
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
	bool others_read; /* other threads had read files before the load began */
	bool alone;       /* on the first thread, and no other load is under way */
	uint32_t overlaps;
	/* imports under way at the begin: a module may train while it is imported */
	uint32_t import_depth;
	uint32_t process_blocks; /* blocks that the process had read, if `alone` */
};

/* Begins the load of the batch named by the thread's `stream`, `generation` and `task`. */
void scope_load_begin(struct thread *thread, struct scope_load *load);

/* Ends a load and writes its record. `samples`: 0 if not known. */
void scope_load_end(struct thread *thread, const struct scope_load *load, uint32_t samples,
		    bool failed);

/* Ends a load without a record, since nothing was loaded. */
void scope_load_cancel(struct thread *thread, const struct scope_load *load);

/* Sets a function to call before each load: it looks for libraries that were loaded unnoticed. */
void scope_on_load(void (*look)(void));

/* Notes that decoders are wrapped, so that a decode_count of 0 means that nothing was decoded. */
void scope_decoders_reached(void);

/* Notes whether some decoders are not wrapped, so that a decode_count of 0 means nothing. */
void scope_decoders_missed(bool missed);
