/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manners.h - gives way to another user of CUPTI in this process, such as torch.profiler.
 *
 * CUPTI has one place for the callbacks that give and take buffers, and one list of enabled kinds:
 * whoever comes last has them. We export the functions that set these, so that we notice, and
 * dlsym() answers with them; what the other user asked for is what happens.
 *
 * What we ask of CUPTI that others can see, and what sets it back when they come, which
 * activity_yield() does:
 *
 *     cuptiSubscribe: cuptiUnsubscribe, at once: the one place is free.
 *     cuptiActivityRegisterCallbacks: theirs are set, by them or by manners_restore().
 *     cuptiActivityEnable: cuptiActivityDisable, but for kinds that are theirs, and in 13.0.0,
 *         where that may hang: they get records of these, too.
 *     cuptiActivityEnable of GRAPH_TRACE: nothing can. Only at the level graphs.
 *     cuptiActivityEnableRuntimeApi, ...DriverApi (level api): the same with 0, but for theirs.
 *     cuptiSetThreadIdType (level api): the same with what they set, or CUPTI's default.
 *     cuptiActivityEnableAllSyncRecords (CUDA 13): the same with what they set, or the default.
 *     cuptiActivityGetNumDroppedRecords sets the count back: not asked while they are there.
 *     cuptiActivityFlushAll: others get their buffers sooner. We force it only at the end. If
 *         others force it, our running operations lose their ends (unfinished.h).
 *
 * Never called: cuptiFinalize, cuptiActivityRegisterTimestampCallback, cuptiActivitySetAttribute,
 * cuptiActivityFlushPeriod. We give way, too, to a user who makes all threads share buffers, which
 * must not be changed while records are made.
 *
 * Not seen: a client that found CUPTI's functions before we began, or one of those for several
 * subscribers (*_v2).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns true if other users have set callbacks and enabled kinds. */
bool manners_is_taken(void);

/* Returns true if other users have disabled their kinds, and made no call for a moment. */
bool manners_is_free(uint64_t now_ns);

/* Sets the other user's callbacks again. */
void manners_restore(void);

/* Returns true if another user changed CUPTI's clock since the last call. */
bool manners_take_clock_change(void);

/* Makes users flush CUPTI at their end, see "stand-in"; the writing thread calls this often. */
void manners_stand_in(void);

/* Makes dlsym() answer with our functions for CUPTI's of the same names. */
void manners_begin(void);

/* Returns how many buffers of other users, which may hold our records, CUPTI has. */
uint32_t manners_buffers_out(void);
