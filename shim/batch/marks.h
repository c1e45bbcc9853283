/* SPDX-License-Identifier: Apache-2.0 */
/* marks.h - records steps that come from elsewhere than dlprof.h, such as from NVTX ranges. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

/* Returns this thread, or NULL. The first call starts recording, which may take milliseconds. */
struct thread *marks_enter(void);

/* Records a step. Returns false if the program has a better source of steps, such as a loader. */
bool marks_step(const char *who, bool first, uint64_t now_ns);
