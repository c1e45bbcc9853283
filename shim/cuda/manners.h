/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manners.h - gives way to another user of CUPTI in this process, such as torch.profiler.
 *
 * CUPTI has one place for the callbacks of buffers, and one list of enabled kinds. We export the
 * functions that set these, and make dlsym() return ours, to notice other users; what they ask for
 * is done. What other users can see of our calls, and how we undo it when they come:
 *
 *     cuptiSubscribe: cuptiUnsubscribe at once, so that the only place is free.
 *     cuptiActivityRegisterCallbacks: theirs are set, by themselves or by manners_restore().
 *     cuptiActivityEnable: cuptiActivityDisable, but for their kinds, and in 13.0.0 (may hang).
 *     cuptiActivityEnable of GRAPH_TRACE cannot be undone, so it is used only at level graphs.
 *     cuptiActivityEnableRuntimeApi, ...DriverApi (level api): the same with 0, but for theirs.
 *     cuptiSetThreadIdType (level api), cuptiActivityEnableAllSyncRecords (13): theirs, or default.
 *     cuptiActivityGetNumDroppedRecords resets the count: not called while they are there.
 *     cuptiActivityFlushAll: they get buffers sooner. Forced only at the end (unfinished.h).
 *
 * Never called: cuptiFinalize, cuptiActivityRegisterTimestampCallback, cuptiActivitySetAttribute,
 * cuptiActivityFlushPeriod. We give way to a user who makes threads share buffers. We do not notice
 * users who found CUPTI's functions before we began, or who call *_v2.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

bool manners_is_taken(void);

/* Returns true if other users disabled all kinds, and made no call for a moment. */
bool manners_is_free(uint64_t now_ns);

void manners_restore(void);

/* Returns true if another user changed CUPTI's clock since the last call. */
bool manners_take_clock_change(void);

/*
 * Requests an empty buffer from torch's profiler, to return it when the profiler flushes CUPTI:
 * without one at its end, it would read no records. The writing thread calls this often.
 */
void manners_stand_in(void);

void manners_begin(void);

/* Returns how many buffers of other users CUPTI has; they may contain our records. */
uint32_t manners_buffers_out(void);
