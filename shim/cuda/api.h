/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - makes CUPTI record the host's CUDA calls, perhaps with calls within calls. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"

/* Returns false if this CUPTI records all calls or none, but not chosen ones. */
bool api_is_possible(void);

/* Enables or disables our calls, except those of kinds in `keep`. Returns how many. */
uint32_t api_enable(bool on, uint64_t keep);

/* Notes whether another user wants this call. api_enable(false) leaves wanted calls enabled. */
void api_note_theirs(uint32_t record_kind, uint32_t number, bool wanted);

/* Returns DLPROF_GPU_API_x, or DLPROF_GPU_NONE for a call that api.def lacks. */
enum dlprof_gpu_kind api_kind(uint32_t record_kind, uint32_t number);
