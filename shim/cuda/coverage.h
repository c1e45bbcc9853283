/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - finds up to when all that the GPU did is known, and the gaps in that time.
 *
 * A gap is a time in which another user has CUPTI, a buffer was lost, CUPTI is silent though the
 * host launches, or an operation runs that another user's flush cut off. The writing thread calls
 * these functions. They rely on three facts:
 *
 * 1. Each record is in a buffer that CUPTI requested from us. CUPTI keeps the buffer of a running
 * operation, however often CUPTI is flushed. So a long time without a buffer proves nothing.
 *
 * 2. A record gets its place at the launch. So a buffer holds nothing older than its request, and
 * all is known up to the request of the oldest buffer that CUPTI still has.
 *
 * 3. At the end we force CUPTI to return all buffers. Operations that still run are then recorded
 * without their end, so all is known only until they began. Their ends never come, so we do not
 * force earlier. Another user may (unfinished.h). A buffer that a thread gets during our forced
 * flush is not returned, and all is known up to the request of that buffer.
 *
 * CUPTI does not promise fact 2. If a record is older than fact 2 allows, later times are reduced
 * by the difference (reader_times.lag_ns), and the drain corrects or withdraws steps. After a run's
 * end, fact 2 matters only if threads launch to the very end. Correlation ids could not replace it:
 * before 13.0 only recorded calls have one, and the driver's own launches are not seen.
 */
#pragma once

#include <stdint.h>

/* Begins at `when_ns`, before there is a writing thread. */
void coverage_begin(uint64_t when_ns);

void coverage_yielded(uint64_t when_ns);

/* Notes that CUPTI is ours again, and has no more buffer of another user. */
void coverage_regained(void);

/* Looks for silence and lost buffers. Call it when all returned buffers were read. */
void coverage_look(void);

/* Tells the drain up to when all is known, if that is later than the drain was told before. */
void coverage_tell(void);

/* At the end, tells up to when all is known. First read the buffers of our forced flush. */
void coverage_end(uint64_t forced_ns);
