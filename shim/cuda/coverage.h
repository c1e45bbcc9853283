/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - up to when everything that the GPU did is known, and gaps in that: while another
 * user has CUPTI, of what one cut off, while CUPTI reports nothing though the host launches, and of
 * buffers that CUPTI never gave back. Of the writing thread.
 *
 * What proves that all is known up to a time:
 *
 * 1. A record comes in a buffer that CUPTI requested from us, and buffers.h knows each that has not
 *    come back. A buffer with an operation that runs is kept by CUPTI, however often it is flushed,
 *    for seconds where kernels are few: so that nothing comes says nothing.
 * 2. A record's place is taken when its operation is launched. So in a buffer is nothing that began
 *    before it was requested, and all is known up to the request of the oldest one that is out.
 * 3. At the end CUPTI is forced to give back all, also what runs, which then has no end: all is
 *    known up to its begin. In the middle we force nothing, as such a record never comes again. If
 *    another user does, what ran then is a gap (unfinished.h).
 *    Threads that still launch then request new buffers, and the forced flush does not find one
 *    that CUPTI is only just handed: all is known up to its request.
 *
 * 2 is not promised. A record that breaks it makes all that is said lag by as much from then on
 * (reader_times.lag_ns), and the drain measures the steps again that it had measured without it, or
 * takes back what it said of them. So what is said of a run that ended rests on 1 and 3 alone, but
 * for threads that launch to the very end.
 *
 * A buffer that is out too long (buffers_take_lost()) is a gap of its own time; should it come
 * back, the drain takes back as above. Correlation of records with launches proves nothing:
 * older versions give no ids unless calls are recorded (13.0 gives them), and launches by the
 * driver's API are not seen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Begins the coverage with the recording, before there is a writing thread. */
void coverage_begin(uint64_t when_ns);

/* Another user has CUPTI since `when_ns`. */
void coverage_yielded(uint64_t when_ns);

/* CUPTI is ours again, and has none of the other user's buffers. */
void coverage_regained(void);

/* Called each period, after all that came back was read. */
void coverage_look(void);

/* Sends the drain the time up to which everything is known, if it has moved on. */
void coverage_tell(void);

/* Ends the coverage: CUPTI was forced to give back everything at `forced_ns`, and that was read. */
void coverage_end(uint64_t forced_ns);
