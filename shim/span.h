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
	int fd;			/* -1: none */
	const char *path;	/* of the file if the caller knows it, or NULL */
	const char *name;	/* of the function */
	uint32_t hook;
	bool uncounted;		/* its time counts, but it is no operation of its own: a close */
};

/* Starts the clock. False: not recorded, and span_end() must not be called. */
bool span_begin(struct span *span, enum dlprof_class class);

/* Stops the clock and counts. `bytes`: what came in. */
void span_end(struct span *span, uint64_t bytes, bool failed);

/* Sum of the thread's counted time in classes that move or decode data. */
uint64_t span_io_ns(const struct thread *thread);

#endif
