/* SPDX-License-Identifier: Apache-2.0 */
/* activity.h - asks CUPTI for records, mostly on the writing thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/sys.h"
#include "cuda/cupti.h"

#define ACTIVITY_PERIOD_MS 1000

/* Called before CUPTI requests buffers. Returns 0 or -errno. */
int activity_init(enum config_cuda level);

/* Returns DLPROF_GPU_WITH_KERNELS and so on, as recorded. */
uint32_t activity_flags(void);

/* Registers callbacks and enables kinds. Returns 0, or CUPTI's first fatal error. */
int activity_arm(void);

/* Disables our kinds except `keep` (bits), which another user enabled, and resets all settings. */
void activity_disarm(uint64_t keep);

/* Settings of other users that differ from ours while CUPTI's buffers are ours. */
extern HIDDEN struct activity_others {
	_Atomic int thread_id_type;
	_Atomic uint8_t sync_records;
} activity_others;

/* Sets our settings again after another user changed one, unless we give way. */
void activity_insist(void);

/* Gives CUPTI to another user, on that user's thread. Kinds in `keep` stay enabled. */
void activity_yield(uint64_t keep);

/* Callbacks of CUPTI; for another user's buffers they call that user's. */
void activity_request(uint8_t **buffer, size_t *size, size_t *max_records);
void activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
		       size_t valid_size);
extern HIDDEN cupti_complete_function *_Atomic activity_their_complete;
/* begin of another user's forced flush that is under way; 0: none */
extern HIDDEN _Atomic uint64_t activity_forced_ns;
/* Called with each buffer marked by buffers_share(). */
extern HIDDEN void (*_Atomic activity_share)(void *context, uint32_t stream, const uint8_t *buffer,
					     size_t valid_size);

/* `forced`: also flushes operations that have not ended; for the very end. */
void activity_flush(bool forced);

/* While a thread calls CUPTI, its reads are not the host's. */
void activity_mute(bool muted);
