/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - finds up to when everything that the GPU did is known, and the gaps in that: while
 * another user has CUPTI, what such a user cut off, while CUPTI reports nothing though the host
 * launches, and buffers that CUPTI never gave back. For the writing thread.
 *
 * Why all is known up to a time:
 *
 * 1. A record is in a buffer that CUPTI requested from us, and buffers.h knows each that has not
 * come back. CUPTI keeps a buffer with a running operation, however often it is flushed, for
 * seconds if kernels are few: so a time without buffers proves nothing.
 *
 * 2. A record gets its place when its operation is launched. So a buffer has nothing that began
 * before it was requested, and all is known up to the request of the oldest buffer that CUPTI has.
 *
 * 3. At the end CUPTI is forced to give back everything. An operation that still runs then has no
 * end, and all is known up to its begin. Before the end we force nothing, as such a record never
 * comes again; if another user does, what ran then is a gap (unfinished.h). Threads that still
 * launch request new buffers, and the forced flush misses one that CUPTI is just being handed: all
 * is known up to its request.
 *
 * CUPTI does not promise 2. A record that breaks it makes all times told later lag by as much
 * (reader_times.lag_ns), and the drain measures the steps again that it had measured without the
 * record, or takes them back. So for a run that has ended the proof needs only 1 and 3, except for
 * threads that launch to the very end.
 *
 * A buffer that is out too long (buffers_take_lost()) makes a gap of its own time; if it comes
 * back, the drain takes back as above. Correlating records with launches proves nothing: older
 * versions give no ids unless calls are recorded (13.0 gives them), and launches by the driver's
 * API are not seen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Begins the coverage, with the recording and before there is a writing thread. */
void coverage_begin(uint64_t when_ns);

/* Notes that another user has CUPTI since `when_ns`. */
void coverage_yielded(uint64_t when_ns);

/* Notes that CUPTI is ours again, and has none of the other user's buffers. */
void coverage_regained(void);

/* Looks for gaps; called each period, after all that came back was read. */
void coverage_look(void);

/* Sends the drain the time up to which everything is known, if that has moved on. */
void coverage_tell(void);

/* Ends the coverage: CUPTI was forced to give back everything at `forced_ns`, and that was read. */
void coverage_end(uint64_t forced_ns);
