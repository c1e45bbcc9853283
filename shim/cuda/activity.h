/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activity.h - what CUPTI is asked for: kinds of records, the buffers for them, and to hand those
 * out. All but the two callbacks and activity_yield() is called by the writing thread, or before
 * there is one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/sys.h"
#include "cuda/cupti.h"

#define ACTIVITY_PERIOD_MS 1000 /* CUPTI is asked for its buffers this often */

/* 0 or -errno. Before the first request. */
int activity_init(enum config_cuda level);

/* What is recorded: DLPROF_GPU_WITH_KERNELS, ... */
uint32_t activity_flags(void);

/* Registers the callbacks and enables the kinds; 0, or CUPTI's error of the first that matters. */
int activity_arm(void);

/* Disables what is enabled, but for `keep`'s kinds (bits), which are somebody else's, and sets back
 * what else was set. */
void activity_disarm(uint64_t keep);

/* What others want of CUPTI that we set otherwise while its buffers are ours; see manners.h. */
extern HIDDEN struct activity_others {
	_Atomic int thread_id_type;
	_Atomic uint8_t sync_records;
} activity_others;

/* Somebody else has just set one of these: it stays ours until we give way. */
void activity_insist(void);

/*
 * Somebody else takes CUPTI's buffers from now on: our kinds are disabled, but for those in `keep`,
 * and nothing is known of the GPU until manners_is_free(). On the thread of that somebody.
 */
void activity_yield(uint64_t keep);

/* What CUPTI calls; theirs are called with what is not ours (manners.c). */
void activity_request(uint8_t **buffer, size_t *size, size_t *max_records);
void activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
		       size_t valid_size);
extern HIDDEN cupti_complete_function *_Atomic activity_their_complete;
/* Since when another user makes CUPTI give back everything; 0: nobody does just now. */
extern HIDDEN _Atomic uint64_t activity_forced_ns;
/* Called with what is ours and marked, see buffers_share(). */
extern HIDDEN void (*_Atomic activity_share)(void *context, uint32_t stream, const uint8_t *buffer,
					     size_t valid_size);

/* Asks CUPTI for its buffers; `forced`: for those with what has not ended, too, at the very end. */
void activity_flush(bool forced);

/* CUPTI reads files of its own: while it is called, what this thread does is none of the host's. */
void activity_mute(bool muted);
