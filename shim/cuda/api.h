/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - the host's CUDA calls, as CUPTI records them: the thread, begin and end. A call of the
 * runtime and the driver call within it may both be recorded for one thread; the drain counts the
 * outer one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"

/* Returns true if this version of CUPTI can record single calls. */
bool api_is_possible(void);

/* Switches recording of calls, except kinds that another user has (`keep`). Returns the count. */
uint32_t api_enable(bool on, uint64_t keep);

/* Notes whether another user wants a call recorded; api_enable(false) then leaves it enabled. */
void api_note_theirs(uint32_t record_kind, uint32_t number, bool wanted);

/* Returns DLPROF_GPU_API_x for a record's kind and number, or DLPROF_GPU_NONE if it is not ours. */
enum dlprof_gpu_kind api_kind(uint32_t record_kind, uint32_t number);
