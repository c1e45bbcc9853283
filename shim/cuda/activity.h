/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activity.h - asks CUPTI for records: their kinds, the buffers for them, and to hand these out.
 * All but the two callbacks and activity_yield() is called by the writing thread, or before there
 * is one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/sys.h"
#include "cuda/cupti.h"

#define ACTIVITY_PERIOD_MS 1000 /* time between two requests for CUPTI's buffers */

/* Called before the first request for a buffer. 0 or -errno. */
int activity_init(enum config_cuda level);

/* The flags of what is recorded: DLPROF_GPU_WITH_KERNELS, ... */
uint32_t activity_flags(void);

/* Registers the callbacks and enables the kinds. 0, or CUPTI's error of the first that matters. */
int activity_arm(void);

/* Disables what is enabled but for kinds in `keep` (bits), another user's, and resets all else. */
void activity_disarm(uint64_t keep);

/* What others set in CUPTI, and we set otherwise while its buffers are ours; see manners.h. */
extern HIDDEN struct activity_others {
	_Atomic int thread_id_type;
	_Atomic uint8_t sync_records;
} activity_others;

/* Sets our settings again, one of which another user has just changed, until we give way. */
void activity_insist(void);

/*
 * Gives CUPTI's buffers to another user, on that user's thread: our kinds are disabled, but for
 * those in `keep`. Nothing is known of the GPU until manners_is_free().
 */
void activity_yield(uint64_t keep);

/* Callbacks of CUPTI; another user's are called for buffers that are not ours (manners.c). */
void activity_request(uint8_t **buffer, size_t *size, size_t *max_records);
void activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
		       size_t valid_size);
extern HIDDEN cupti_complete_function *_Atomic activity_their_complete;
/* Since when another user forces CUPTI to give back everything; 0: nobody does now. */
extern HIDDEN _Atomic uint64_t activity_forced_ns;
/* Called with buffers that are ours and marked, see buffers_share(). */
extern HIDDEN void (*_Atomic activity_share)(void *context, uint32_t stream, const uint8_t *buffer,
					     size_t valid_size);

/* Asks CUPTI for its buffers; `forced`: with unfinished operations, too, at the very end. */
void activity_flush(bool forced);

/* Mutes this thread while CUPTI is called, which reads files: they are not the host's. */
void activity_mute(bool muted);
