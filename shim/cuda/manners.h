/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manners.h - gives way to another user of CUPTI in this process, such as torch.profiler.
 *
 * CUPTI has one place for the callbacks of buffers, and one list of enabled kinds. To notice other
 * users, we export the functions that set these, and dlsym() returns ours. What other users can see
 * of our calls, and how we undo it when they come:
 *
 * - cuptiSubscribe: cuptiUnsubscribe at once, so that the only place is free.
 * - cuptiActivityRegisterCallbacks: the user's are set, by the user or by manners_restore().
 * - cuptiActivityEnable: cuptiActivityDisable of kinds that the user does not want. Not in 13.0.0,
 *   where this may hang.
 * - cuptiActivityEnable of GRAPH_TRACE cannot be undone, and is used at level graphs only.
 * - cuptiActivityEnableRuntimeApi, ...DriverApi (level api): disabled, as kinds are.
 * - cuptiSetThreadIdType (level api), cuptiActivityEnableAllSyncRecords (13): the user's setting,
 *   or the default.
 * - cuptiActivityGetNumDroppedRecords resets the count: not called while a user is there.
 * - cuptiActivityFlushAll: users get buffers sooner. Forced only at the end (unfinished.h).
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
 * Requests an empty buffer from torch's profiler, to return it when the profiler flushes CUPTI.
 * Without a buffer at its end, the profiler would read no records. The writing thread calls this
 * often.
 */
void manners_stand_in(void);

void manners_begin(void);

/* Returns how many buffers of other users CUPTI has; they may contain our records. */
uint32_t manners_buffers_out(void);
