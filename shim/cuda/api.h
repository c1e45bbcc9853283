/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - the host's calls of CUDA as CUPTI records them: who was in one, and how long. A call of
 * the runtime and what it calls of the driver may both be recorded, with the same thread; the drain
 * counts the outer one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"

/* Whether this CUPTI can record single calls. */
bool api_is_possible(void);

/* From now on, or no longer; not of the kinds in `keep` (bits), which are somebody else's. How
 * many. */
uint32_t api_enable(bool on, uint64_t keep);

/* Somebody else wants that call recorded, or no longer: it stays so when we disable ours. */
void api_note_theirs(uint32_t record_kind, uint32_t number, bool wanted);

/* DLPROF_GPU_API_x of a record's kind and number; DLPROF_GPU_NONE: not one of ours. */
enum dlprof_gpu_kind api_kind(uint32_t record_kind, uint32_t number);
