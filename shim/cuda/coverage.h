/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - finds the time up to which all that the GPU did is known, and the gaps before it.
 *
 * There is a gap while another user has CUPTI, where buffers were lost, while CUPTI is silent
 * though the host launches, and while operations run that another user's flush cut off. For the
 * writing thread.
 *
 * 1. Every record is in a buffer that CUPTI requested from us. CUPTI keeps a buffer with a running
 * operation, however often it is flushed. So it proves nothing if no buffer comes back for long.
 *
 * 2. A record gets its place at the launch. So a buffer holds nothing older than its request, and
 * all is known up to the request of the oldest buffer that CUPTI still has.
 *
 * 3. At the end we force CUPTI to return all buffers. Running operations then have no end, and all
 * is known only until they began. Their ends never come, so we do not force earlier; another user
 * may (unfinished.h). A buffer that CUPTI gives to a thread just then is missed, and all is known
 * up to its request.
 *
 * CUPTI does not promise 2. If a record contradicts it, later times lag by as much
 * (reader_times.lag_ns), and the drain corrects or withdraws steps. For a run that has ended, 1 and
 * 3 are enough, unless threads launch to the very end. Correlation ids prove nothing: before 13.0
 * only recorded calls have one, and the driver's launches are not seen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Begins the coverage at `when_ns`. Called before there is a writing thread. */
void coverage_begin(uint64_t when_ns);

void coverage_yielded(uint64_t when_ns);

/* Called when CUPTI is ours again, without any buffer of another user. */
void coverage_regained(void);

/* Finds silences and lost buffers. Called after all returned buffers were read. */
void coverage_look(void);

/* Sends to the drain the time up to which all is known, if that time advanced. */
void coverage_tell(void);

/* Sends the last time. Called after our forced flush, when all its buffers were read. */
void coverage_end(uint64_t forced_ns);
