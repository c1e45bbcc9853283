/* SPDX-License-Identifier: Apache-2.0 */
/* marks.h - steps by other sources than dlprof.h, such as NVTX ranges; see marks.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

/*
 * This thread's state; the first of a process begins the recording, for which it may wait a few
 * milliseconds.
 */
struct thread *marks_enter(void);

/*
 * A step begins here, says `who` ("nvtx"), the first of an epoch or not. Counts only where the
 * program has no loader that is followed and does not call dlprof_batch_begin() or dlprof_step():
 * they know better.
 * True: it does.
 */
bool marks_step(const char *who, bool first, uint64_t now_ns);
