/* SPDX-License-Identifier: Apache-2.0 */
/* marks.h - records steps by other sources than dlprof.h, such as NVTX ranges; see marks.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

/*
 * Returns this thread's state. The first call of a process begins the recording, and may wait a few
 * milliseconds for it.
 */
struct thread *marks_enter(void);

/*
 * Begins a step by the marks of `who` ("nvtx"); `first`: it begins an epoch. Returns false if it is
 * ignored: the program has a followed loader, or calls dlprof_batch_begin() or dlprof_step(), which
 * are better sources.
 */
bool marks_step(const char *who, bool first, uint64_t now_ns);
