/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span.h - time one call once.
 *
 * Own time: what a call spends in calls that are timed themselves is theirs, so that a nanosecond
 * has one class. The guard remembers stack addresses, not a depth, because decoders longjmp
 * through wrappers: a frame at or below the address of a new one is gone, whatever it left behind.
 */
#ifndef SPAN_H
#define SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"
#include "thread.h"

struct span {
	struct thread *thread;
	enum dlprof_class class;
	int fd;			/* of a data file: time and bytes go to it, too; -1: none */
	const char *path;	/* of the file if the caller knows it, or NULL */
	struct dlprof_tally *tally; /* counts it, too; NULL, or set after span_begin() */
	uint64_t own_ns;	/* set by span_end(), where it counted */
	const char *name;	/* of the function */
	uint32_t hook;
	bool uncounted;		/* its time counts, but it is no operation of its own: a close */
};

/*
 * Starts the clock; fd, path, name, hook and uncounted are the caller's to set, before or after.
 * False: not recorded, and span_end() must not be called.
 */
bool span_begin(struct span *span, enum dlprof_class class);

/* Only if this thread is loading a batch; fd, path and uncounted are set to nothing, no operation. */
bool span_begin_in_load(struct span *span, enum dlprof_class class);

/* Stops the clock and counts. `bytes`: what came in. */
void span_end(struct span *span, uint64_t bytes, bool failed);

/* Frames at or below `address` are gone. */
void span_unwind(struct thread *thread, uintptr_t address);

/* Instead of the end: it was none of ours. */
void span_cancel(struct span *span);

#endif
