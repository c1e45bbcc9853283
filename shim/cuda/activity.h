/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activity.h - asks CUPTI for records: enables kinds, gives CUPTI buffers, and flushes them. Only
 * the writing thread calls these functions, or the first thread before that one exists. The
 * exceptions are the two callbacks and activity_yield().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/sys.h"
#include "cuda/cupti.h"

#define ACTIVITY_PERIOD_MS 1000 /* pause between two flushes of CUPTI's buffers */

/* Prepares the buffers; called before CUPTI requests any. Returns 0 or -errno. */
int activity_init(enum config_cuda level);

/* Returns the flags of what is recorded: DLPROF_GPU_WITH_KERNELS, ... */
uint32_t activity_flags(void);

/* Registers the callbacks and enables the kinds. Returns 0, or CUPTI's first fatal error. */
int activity_arm(void);

/* Disables our kinds, except `keep` (bits), which another user has enabled; resets all settings. */
void activity_disarm(uint64_t keep);

/* Settings of other users that differ from ours while CUPTI's buffers are ours; see manners.h. */
extern HIDDEN struct activity_others {
	_Atomic int thread_id_type;
	_Atomic uint8_t sync_records;
} activity_others;

/* Sets our settings again after another user changed one, unless we give way to that user. */
void activity_insist(void);

/*
 * Gives CUPTI's buffers to another user, on that user's thread: disables our kinds except `keep`.
 * Until manners_is_free(), what the GPU does is unknown.
 */
void activity_yield(uint64_t keep);

/* Callbacks of CUPTI; for buffers that are not ours they call another user's (manners.c). */
void activity_request(uint8_t **buffer, size_t *size, size_t *max_records);
void activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
		       size_t valid_size);
extern HIDDEN cupti_complete_function *_Atomic activity_their_complete;
/* When another user began a forced flush of CUPTI; 0: none is under way. */
extern HIDDEN _Atomic uint64_t activity_forced_ns;
/* Called with each of our buffers that is marked by buffers_share(). */
extern HIDDEN void (*_Atomic activity_share)(void *context, uint32_t stream, const uint8_t *buffer,
					     size_t valid_size);

/* Flushes CUPTI's buffers; `forced`: also with unfinished operations, used at the very end. */
void activity_flush(bool forced);

/* Mutes our hooks on this thread while it calls CUPTI, whose reads are not the host's. */
void activity_mute(bool muted);
