/* SPDX-License-Identifier: Apache-2.0 */
/* activity.h - makes CUPTI record, and gives CUPTI to other users. Mostly on the writing thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/sys.h"
#include "cuda/cupti.h"
#include "dlprof/event.h"

#define ACTIVITY_PERIOD_MS 1000

/* Makes the buffers, before CUPTI requests any. Returns 0 or -errno. */
int activity_init(enum config_cuda level);

/* Returns what is recorded, as bits of enum dlprof_gpu_flag. */
uint32_t activity_flags(void);

/* Registers callbacks and enables kinds. Returns 0, or CUPTI's first fatal error. */
int activity_arm(void);

/* Disables what we enabled, but for kinds in `keep` (bits), which another user wants. */
void activity_disarm(uint64_t keep);

/* Settings that other users made, to be restored when CUPTI is theirs. */
extern HIDDEN struct activity_others {
	_Atomic int thread_id_type;
	_Atomic uint8_t sync_records;
} activity_others;

/* After another user changed a setting: sets ours again, if CUPTI's buffers are ours. */
void activity_insist(void);

/* Gives CUPTI to another user, whose thread calls this. Kinds in `keep` stay enabled. */
void activity_yield(uint64_t keep);

/* CUPTI calls these two. They pass another user's buffer on to that user's callback. */
void activity_request(uint8_t **buffer, size_t *size, size_t *max_records);
void activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
		       size_t valid_size);
extern HIDDEN cupti_complete_function *_Atomic activity_their_complete;
/* when another user began a forced flush that is still under way; 0: there is none */
extern HIDDEN _Atomic uint64_t activity_forced_ns;
/* function that gets each returned buffer which buffers_share() marked */
extern HIDDEN void (*_Atomic activity_share)(void *context, uint32_t stream, const uint8_t *buffer,
					     size_t valid_size);

/* Asks CUPTI for its buffers. `forced`, only at the end: for those of running operations, too. */
void activity_flush(bool forced);

/* Stops our hooks from recording this thread: what CUPTI reads is no data of the training. */
void activity_mute(bool muted);

/* Returns false if this CUPTI records all calls or none, but not chosen ones. */
bool api_is_possible(void);

/* Notes whether another user wants this call, which then stays enabled when we yield CUPTI. */
void api_note_theirs(uint32_t record_kind, uint32_t number, bool wanted);

/* Returns DLPROF_GPU_API_x, or DLPROF_GPU_NONE for a call that api.def lacks. */
enum dlprof_gpu_kind api_kind(uint32_t record_kind, uint32_t number);
