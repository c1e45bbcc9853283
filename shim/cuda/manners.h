/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manners.h - gives way to another user of CUPTI in this process, such as torch.profiler.
 *
 * CUPTI has a single place for the callbacks that give and take buffers, and a single list of
 * enabled kinds: whoever sets them last has them. We export the functions that set these, and make
 * dlsym() return ours, in order to notice other users; what another user asks for is done.
 *
 * Settings of ours that other users can see, and how each is undone when they come, most of them by
 * activity_yield():
 *
 *     cuptiSubscribe: cuptiUnsubscribe, at once, so that the only place is free.
 *     cuptiActivityRegisterCallbacks: theirs are set, by themselves or by manners_restore().
 *     cuptiActivityEnable: cuptiActivityDisable, except for kinds of theirs, and except in 13.0.0,
 *         where it may hang: they then get records of these kinds, too.
 *     cuptiActivityEnable of GRAPH_TRACE: cannot be undone, so it is used only at level graphs.
 *     cuptiActivityEnableRuntimeApi, ...DriverApi (level api): the same with 0, but for theirs.
 *     cuptiSetThreadIdType (level api): the same with their value, or CUPTI's default.
 *     cuptiActivityEnableAllSyncRecords (CUDA 13): the same with their value, or the default.
 *     cuptiActivityGetNumDroppedRecords resets the count: not called while they are there.
 *     cuptiActivityFlushAll: they get buffers sooner. We force it only at the end. If they force
 *         it, our running operations lose their ends (unfinished.h).
 *
 * Never called: cuptiFinalize, cuptiActivityRegisterTimestampCallback, cuptiActivitySetAttribute,
 * cuptiActivityFlushPeriod. We also give way to a user who makes all threads share buffers, which
 * must not be changed while records are made.
 *
 * Not noticed: a user that found CUPTI's functions before we began, or that calls the functions for
 * several subscribers (*_v2).
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
