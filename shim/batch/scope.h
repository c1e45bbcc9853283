/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - the load of one batch, from begin to end, with what the thread did meanwhile.
 *
 * A load may use threads of its own: pools, or those of a library. For which load such a thread
 * works is not known. But if a process loads one batch at a time, on its first thread, as
 * DataLoader's workers do, the load also gets what other threads open, read and decode during it:
 * counts and bytes, but no time, since they run side by side.
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
	bool others_read; /* other threads had read before the load began */
	bool alone;       /* on the first thread, and no other load is under way */
	uint32_t overlaps;
	/* modules being imported at the begin: one may train while imported */
	uint32_t import_depth;
	uint32_t process_blocks; /* blocks that the process had read, if `alone` */
};

/* Begins the load of the batch that thread->stream, generation and task name. */
void scope_load_begin(struct thread *thread, struct scope_load *load);

/* Ends a load and writes its record. `samples`: 0 if not known. */
void scope_load_end(struct thread *thread, const struct scope_load *load, uint32_t samples,
		    bool failed);

/* Ends a load without a record, as it loaded nothing. */
void scope_load_cancel(struct thread *thread, const struct scope_load *load);

/* Sets a function that is called before each load, as libraries may have been loaded unseen. */
void scope_on_load(void (*look)(void));

/* Notes that this process's decoders are wrapped: if none is called, nothing was decoded. */
void scope_decoders_reached(void);

/* Notes that some decoders are not wrapped: that none is called then means nothing. */
void scope_decoders_missed(bool missed);
