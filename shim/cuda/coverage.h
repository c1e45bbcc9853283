/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - finds the time up to which all that the GPU did is known, and the gaps before it.
 *
 * Gaps are times of another user, of operations that it cut off, of CUPTI's silence while the host
 * launches, and of lost buffers. For the writing thread. Why all is known up to a time:
 *
 * 1. Every record is in a buffer that CUPTI requested from us. A period in which none came back
 * proves nothing: CUPTI keeps a buffer with a running operation, however often it is flushed.
 *
 * 2. A record gets its place at the launch, so a buffer holds nothing older than its request, and
 * all is known up to the request of the oldest buffer that is out.
 *
 * 3. At the end CUPTI is forced to give back everything. Running operations then have no end: all
 * is known up to their begin. Their records never come again, so we do not force before; if another
 * user does, that is a gap (unfinished.h). A buffer just being handed over is missed: all is known
 * up to its request.
 *
 * CUPTI does not promise 2. If a record breaks it, later times lag by as much
 * (reader_times.lag_ns), and the drain corrects or withdraws steps. A run that has ended needs only
 * 1 and 3, but for threads that launch to the very end. Correlation ids prove nothing: versions
 * before 13.0 have them only for recorded calls, and the driver's launches are not seen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Called before there is a writing thread. */
void coverage_begin(uint64_t when_ns);

void coverage_yielded(uint64_t when_ns);

/* Called when CUPTI is ours again, and has no buffer of another user. */
void coverage_regained(void);

/* Called after all buffers that came back were read. */
void coverage_look(void);

/* Tells the drain the time up to which all is known, if it advanced. */
void coverage_tell(void);

/* Called after a forced flush, once all its buffers were read. */
void coverage_end(uint64_t forced_ns);
