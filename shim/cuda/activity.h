/* SPDX-License-Identifier: Apache-2.0 */
/* activity.h - asks CUPTI for records, mostly on the writing thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/sys.h"
#include "cuda/cupti.h"

#define ACTIVITY_PERIOD_MS 1000

/* Makes the buffers. Called before CUPTI requests any. Returns 0 or -errno. */
int activity_init(enum config_cuda level);

/* Returns what is recorded, as bits of enum dlprof_gpu_flag. */
uint32_t activity_flags(void);

/* Registers callbacks and enables kinds. Returns 0, or CUPTI's first fatal error. */
int activity_arm(void);

/* Disables our kinds, but none in `keep` (bits), which another user enabled. Resets settings. */
void activity_disarm(uint64_t keep);

/* What other users set differently from us, while CUPTI's buffers are ours. */
extern HIDDEN struct activity_others {
	_Atomic int thread_id_type;
	_Atomic uint8_t sync_records;
} activity_others;

/* Changes settings back to ours after another user changed one. Does nothing after a yield. */
void activity_insist(void);

/* Gives CUPTI to another user, on that user's thread. Kinds in `keep` stay enabled. */
void activity_yield(uint64_t keep);

/* Callbacks that CUPTI calls. A buffer of another user goes on to that user's callback. */
void activity_request(uint8_t **buffer, size_t *size, size_t *max_records);
void activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
		       size_t valid_size);
extern HIDDEN cupti_complete_function *_Atomic activity_their_complete;
/* begin of another user's forced flush that is still under way; 0: none is */
extern HIDDEN _Atomic uint64_t activity_forced_ns;
/* Called with each returned buffer that buffers_share() marked. */
extern HIDDEN void (*_Atomic activity_share)(void *context, uint32_t stream, const uint8_t *buffer,
					     size_t valid_size);

/* Asks CUPTI for its buffers. `forced`, only at the end: also with operations that still run. */
void activity_flush(bool forced);

/* Mutes our hooks in this thread, as what CUPTI reads is no data of the training. */
void activity_mute(bool muted);
