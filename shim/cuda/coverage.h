/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - finds the time up to which all that the GPU did is known, and the gaps before it.
 *
 * There is a gap while another user has CUPTI, while operations that its flush cut off run, while
 * CUPTI is silent though the host launches, and where buffers were lost. For the writing thread.
 *
 * 1. Every record is in a buffer that CUPTI requested from us. If no buffer comes back for long,
 * this proves nothing: CUPTI keeps a buffer with a running operation, however often it is flushed.
 *
 * 2. A record gets its place at the launch. So a buffer holds nothing older than its request, and
 * all is known up to the request of the oldest buffer that CUPTI still has.
 *
 * 3. At the end we force CUPTI to return all buffers. Running operations then have no end, and all
 * is known only until they began. Their ends never come, so we do not force before; if another
 * user does, there is a gap (unfinished.h). A buffer that CUPTI hands to a thread just then is
 * missed, and all is known up to its request.
 *
 * CUPTI does not promise fact 2. If a record contradicts it, later times lag by as much
 * (reader_times.lag_ns), and the drain corrects or withdraws steps. A run that has ended needs only
 * 1 and 3, unless threads launch to the very end. Correlation ids prove nothing: versions before
 * 13.0 give them only to recorded calls, and launches by the driver are not seen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Begins the coverage at `when_ns`. Called before there is a writing thread. */
void coverage_begin(uint64_t when_ns);

void coverage_yielded(uint64_t when_ns);

/* Called when CUPTI is ours again, and has no buffer of another user. */
void coverage_regained(void);

/* Finds silences and lost buffers. Called after all returned buffers were read. */
void coverage_look(void);

/* Sends to the drain the time up to which all is known, if that time advanced. */
void coverage_tell(void);

/* Sends the last time. Called after our forced flush, when all its buffers were read. */
void coverage_end(uint64_t forced_ns);
