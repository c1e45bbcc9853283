/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffers.h - the buffers that CUPTI writes its records into.
 *
 * FREE -> OUT (CUPTI has it) -> DONE (it is to be read) -> READING -> FREE. CUPTI asks for one
 * within the host's launches and gives it back on a thread of its own, so both take no lock and
 * allocate nothing. Buffers are small because they come back when they are full.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFER_BYTES        ((size_t)256 << 10)
#define BUFFER_RECORDS_MOST (BUFFER_BYTES / 40) /* launches; those of graphs have the shortest
						 * records */
#define BUFFER_LOST_NS      UINT64_C(15000000000)

/* Makes the pool. 0 or -errno. `never_null`: CUPTI breaks if it gets no buffer. */
int buffers_init(bool never_null);

/* A buffer for CUPTI. NULL: all are taken, and CUPTI counts what it drops. */
uint8_t *buffers_request(void);

bool buffers_is_ours(const uint8_t *buffer);

/*
 * Marks the buffer, or all that CUPTI has: from now on another user's records may lie in it. The
 * mark stays until the buffer is requested again.
 */
void buffers_share(const uint8_t *buffer);
void buffers_share_out(void);
bool buffers_is_shared(const uint8_t *buffer);

/* Whether CUPTI has a marked buffer. */
bool buffers_shared_out(void);

/*
 * Takes a buffer back from CUPTI. `forced_ns`: since when CUPTI has been forced to give back all,
 * with unfinished operations; 0: it was not, or by us.
 */
void buffers_complete(uint8_t *buffer, size_t valid_size, uint64_t forced_ns);

/* The next buffer to read, or NULL. */
uint8_t *buffers_take(size_t *ret_valid_size);
uint64_t buffers_requested_ns(const uint8_t *buffer);
uint64_t buffers_forced_ns(const uint8_t *buffer);
uint32_t buffers_thread(const uint8_t *buffer); /* the thread that requested it */

/* Frees a buffer that was read; by `reached_ns` each stream in it had begun its first operation. */
void buffers_free(uint8_t *buffer, uint64_t reached_ns);

/*
 * Every operation that began before this time was in a buffer that was taken and read: CUPTI holds
 * nothing older. `now_ns` if CUPTI holds no buffer. coverage.h says why.
 */
uint64_t buffers_complete_ns(uint64_t now_ns);

/*
 * Takes the time of a lost buffer: a later one of the same thread came back BUFFER_LOST_NS ago.
 * Call it until there is none. `forced_ns`: buffers from before that CUPTI still has are lost, as
 * it was forced to give back all; 0: it was not.
 *
 * A thread writes into one buffer at a time and requests the next when that is full, whether
 * threads have buffers of their own (CUDA 13) or share one. What it launched last into the lost one
 * may have been queued for long, but ran before what it launched into the next, as a stream's work
 * is done in order. The risk that remains is a stream that is in the lost buffer alone.
 */
bool buffers_take_lost(uint64_t forced_ns, uint64_t *ret_begin_ns, uint64_t *ret_end_ns);

/* How many buffers CUPTI has. */
uint32_t buffers_out(void);

/* Records that buffers could have held that were taken back for want of room. */
uint64_t buffers_dropped(void);
