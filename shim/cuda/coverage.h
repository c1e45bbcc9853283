/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - up to when everything that the GPU did is known, and gaps in that: while another
 * user has CUPTI, while CUPTI reports nothing though the host launches, and of buffers that CUPTI
 * never gave back. Of the writing thread.
 */
#ifndef CUDA_COVERAGE_H
#define CUDA_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Recording begins. Before there is a writing thread. */
void coverage_begin(uint64_t when_ns);

/* Since `when_ns` another user has CUPTI. */
void coverage_yielded(uint64_t when_ns);

/* CUPTI is ours again, and it has none of the other user's buffers. */
void coverage_regained(void);

/* Each period, after all that came back was read. */
void coverage_look(void);

/* Tells the drain up to when all is known, if that has moved on. */
void coverage_tell(void);

/* The last: CUPTI was made to give back everything at `forced_ns`, and that was read. */
void coverage_end(uint64_t forced_ns);

#endif
