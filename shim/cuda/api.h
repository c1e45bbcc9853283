/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - the host's CUDA calls, as CUPTI records them; nested ones may both be recorded. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"

/* Returns false if this CUPTI cannot record single calls. */
bool api_is_possible(void);

/* Kinds in `keep` stay as they are. Returns the number of calls. */
uint32_t api_enable(bool on, uint64_t keep);

/* Another user wants a call, so api_enable(false) leaves it enabled. */
void api_note_theirs(uint32_t record_kind, uint32_t number, bool wanted);

/* Returns DLPROF_GPU_API_x, or DLPROF_GPU_NONE for a record that is not ours. */
enum dlprof_gpu_kind api_kind(uint32_t record_kind, uint32_t number);
