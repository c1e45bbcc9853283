/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - the host's CUDA calls as CUPTI records them: which thread was in one, and how long. A
 * call of the runtime and the driver's call within it may both be recorded, for the same thread;
 * the drain counts the outer one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"

/* Whether this CUPTI can record single calls. */
bool api_is_possible(void);

/* Switches the calls on or off, except another user's kinds in `keep` (bits). Returns how many. */
uint32_t api_enable(bool on, uint64_t keep);

/* Notes whether another user wants a call recorded; if so, we leave it enabled. */
void api_note_theirs(uint32_t record_kind, uint32_t number, bool wanted);

/* Returns DLPROF_GPU_API_x for a record's kind and number; DLPROF_GPU_NONE: it is not ours. */
enum dlprof_gpu_kind api_kind(uint32_t record_kind, uint32_t number);
