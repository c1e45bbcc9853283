/* SPDX-License-Identifier: Apache-2.0 */
/* marks.h - steps by other sources than calls of dlprof.h, such as NVTX ranges; see marks.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

/*
 * This thread's state. The first call of a process begins the recording, and may wait a few
 * milliseconds for it.
 */
struct thread *marks_enter(void);

/*
 * Tells of a step that begins, by `who` ("nvtx"); `first`: of an epoch. It counts only if the
 * program has no followed loader and calls neither dlprof_batch_begin() nor dlprof_step(), which
 * know better. True: it counts.
 */
bool marks_step(const char *who, bool first, uint64_t now_ns);
