/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - finds the time up to which all that the GPU did is known, and the gaps before that:
 * while another user has CUPTI, operations that such a user cut off, silence of CUPTI although the
 * host launches, and buffers that CUPTI never gave back. For the writing thread.
 *
 * Why all is known up to a time:
 *
 * 1. Every record is in a buffer that CUPTI requested from us, and buffers.h knows which buffers
 * have not come back. If kernels are few, CUPTI keeps a buffer with a running operation for
 * seconds, however often it is flushed. So a period in which no buffer came back proves nothing.
 *
 * 2. A record gets its place in a buffer when its operation is launched. So a buffer holds nothing
 * that began before it was requested, and all is known up to the request of the oldest buffer that
 * CUPTI has.
 *
 * 3. At the end CUPTI is forced to give back everything. An operation that still runs then has no
 * end, and all is known up to its begin. Before the end we never force, since such a record does
 * not come again; if another user does, what ran then is a gap (unfinished.h). Threads that still
 * launch request new buffers, and the forced flush misses a buffer that CUPTI is just being handed:
 * all is known up to that request.
 *
 * CUPTI does not promise 2. If a record breaks it, all times that are reported later lag by as much
 * (reader_times.lag_ns), and the drain corrects the steps that it had measured without the record,
 * or withdraws them. So for a run that has ended the proof needs only 1 and 3, except for threads
 * that launch to the very end.
 *
 * A buffer that is out too long (buffers_take_lost()) makes a gap of its own time; if it comes
 * back, the drain corrects as above. Correlating records with launches proves nothing: older
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

/* Notes that CUPTI is ours again, and that it holds none of the other user's buffers. */
void coverage_regained(void);

/* Looks for gaps; called in each period, after all buffers that came back were read. */
void coverage_look(void);

/* Sends the drain the time up to which all is known, if it has advanced. */
void coverage_tell(void);

/* Ends the coverage, after a forced flush at `forced_ns` whose buffers were all read. */
void coverage_end(uint64_t forced_ns);
