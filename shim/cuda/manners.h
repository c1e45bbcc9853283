/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manners.h - gives way to another user of CUPTI in this process, such as torch.profiler.
 *
 * CUPTI has room for one user's buffer callbacks, and one list of enabled kinds of records. To
 * notice other users, we export the functions that set these two, and dlsym() returns ours. Other
 * users could notice these calls of ours, which we undo when a user comes:
 *
 * - cuptiSubscribe: undone at once by cuptiUnsubscribe, as there can be only one subscriber.
 * - cuptiActivityRegisterCallbacks: the user or manners_restore() sets the user's callbacks.
 * - cuptiActivityEnable: undone by cuptiActivityDisable for kinds that the user does not want,
 *   but not in 13.0.0, where this may hang.
 * - cuptiActivityEnable of GRAPH_TRACE cannot be undone, and is used at level graphs only.
 * - cuptiActivityEnableRuntimeApi, ...DriverApi (level api): disabled for unwanted calls.
 * - cuptiSetThreadIdType (level api), cuptiActivityEnableAllSyncRecords (13): we go back to the
 *   user's setting or, without one, to the default.
 * - cuptiActivityGetNumDroppedRecords resets the count: not called while a user is there.
 * - cuptiActivityFlushAll: users get buffers sooner. We force it only at the end (unfinished.h).
 *
 * Never called: cuptiFinalize, cuptiActivityRegisterTimestampCallback, cuptiActivitySetAttribute,
 * cuptiActivityFlushPeriod. We give way to a user who makes threads share buffers. We do not notice
 * users who found CUPTI's functions before we began, or who call *_v2.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

bool manners_is_taken(void);

/* Returns true if other users have disabled all their kinds, and called nothing for a moment. */
bool manners_is_free(uint64_t now_ns);

void manners_restore(void);

/* Returns true if another user changed CUPTI's clock since the last call. */
bool manners_take_clock_change(void);

/*
 * Requests an empty buffer from torch's profiler. The profiler gets the buffer back when it flushes
 * CUPTI: if it got none, it would read no records. The writing thread calls this often.
 */
void manners_stand_in(void);

void manners_begin(void);

/* Returns how many buffers of other users CUPTI has. Records for us may be in them. */
uint32_t manners_buffers_out(void);
