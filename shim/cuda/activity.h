/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activity.h - read CUPTI's records and send them to the drain. Everything here is done by the one
 * thread that attach.c makes, but for the two callbacks.
 */
#ifndef CUDA_ACTIVITY_H
#define CUDA_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"
#include "cuda/cupti.h"
#include "dlprof/event.h"

enum activity_level {
	ACTIVITY_MEMCPY,  /* no kernels */
	ACTIVITY_DEFAULT, /* graphs as wholes */
	ACTIVITY_FULL,    /* each kernel in a graph */
};

/* 0 or -errno. Before the first request. `calls`: the host's are wanted, too, which CUPTI can. */
int activity_init(enum activity_level level, bool calls);

/* ... and are recorded. */
bool activity_has_calls(void);

/* Registers the callbacks and enables the kinds; 0, or CUPTI's error of the first that matters. */
int activity_arm(void);

/* Disables what is enabled, but for `keep`'s kinds (bits), which are somebody else's. */
void activity_disarm(uint64_t keep);

/* What CUPTI calls; theirs are called with what is not ours (manners.c). */
void activity_request(uint8_t **buffer, size_t *size, size_t *max_records);
void activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
		       size_t valid_size);
extern HIDDEN cupti_complete_function *_Atomic activity_their_complete;
/* Called with what is ours while attach_is_yielded(). */
extern HIDDEN void (*_Atomic activity_share)(void *context, uint32_t stream, const uint8_t *buffer,
					      size_t valid_size);

/* Looks at both clocks. `anew`: CUPTI's may have become another one. */
void activity_look(bool anew);

/* Asks CUPTI for its buffers; `forced`: for those with what has not ended, too, at the very end. */
void activity_flush(bool forced);

/* Reads what CUPTI gave back. */
void activity_read(void);

/* Tells the drain how far that was; nothing if it has not moved on. `forced`: all of it. */
void activity_tell_complete(bool forced);

/* The end of the newest that was read; 0: none was. */
uint64_t activity_newest_ns(void);

/* Tells it of anything else. */
void activity_tell(enum dlprof_gpu_state_kind state, uint64_t when_ns, const char *why);

#endif
