/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffers.h - the buffers into which CUPTI writes its records.
 *
 * FREE -> OUT (CUPTI has it) -> DONE (to be read) -> READING -> FREE. CUPTI requests a buffer
 * within the host's launches and gives it back on a thread of its own, so both take no lock and
 * allocate nothing. Buffers are small because CUPTI gives them back when they are full.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFER_BYTES        ((size_t)256 << 10)
#define BUFFER_RECORDS_MOST (BUFFER_BYTES / 40) /* launches; records of graphs are the shortest */
#define BUFFER_LOST_NS      UINT64_C(15000000000)

/* Makes the pool. `never_null`: CUPTI crashes if it gets no buffer. Returns 0 or -errno. */
int buffers_init(bool never_null);

/* Returns a buffer for CUPTI. NULL: all are taken, and CUPTI counts what it drops. */
uint8_t *buffers_request(void);

bool buffers_is_ours(const uint8_t *buffer);

/*
 * Marks a buffer, or by buffers_share_out() all that CUPTI has: from now on another user's records
 * may be in it. The mark stays until the buffer is requested again.
 */
void buffers_share(const uint8_t *buffer);
void buffers_share_out(void);
bool buffers_is_shared(const uint8_t *buffer);

/* Whether CUPTI has a marked buffer. */
bool buffers_shared_out(void);

/*
 * Takes a buffer back from CUPTI. `forced_ns`: when another user began to force CUPTI to give back
 * all, with unfinished operations; 0: nobody did, or we did.
 */
void buffers_complete(uint8_t *buffer, size_t valid_size, uint64_t forced_ns);

/* Returns the next buffer to read, or NULL. */
uint8_t *buffers_take(size_t *ret_valid_size);
uint64_t buffers_requested_ns(const uint8_t *buffer);
uint64_t buffers_forced_ns(const uint8_t *buffer);
uint32_t buffers_thread(const uint8_t *buffer); /* the thread that requested the buffer */

/* Frees a buffer that was read; by `reached_ns` each stream in it had begun its first operation. */
void buffers_free(uint8_t *buffer, uint64_t reached_ns);

/*
 * Returns a time; every operation that began before it was in a buffer that was read, and CUPTI
 * holds nothing older. That is `now_ns` if CUPTI holds no buffer. coverage.h explains why.
 */
uint64_t buffers_complete_ns(uint64_t now_ns);

/*
 * Returns true, with the time that it covers, for a buffer that just counts as lost: a later one of
 * the same thread came back BUFFER_LOST_NS ago. Call it until it returns false. `forced_ns`: when
 * CUPTI was forced to give back all, so that older buffers are lost; 0: it was not.
 *
 * A thread writes into one buffer at a time and requests the next when that is full, whether
 * threads have buffers of their own (CUDA 13) or share one. Its last launches in the lost buffer
 * may have been queued for long, but ran before those in the next one, as a stream runs its work in
 * order. The risk that remains is a stream that is in the lost buffer alone.
 */
bool buffers_take_lost(uint64_t forced_ns, uint64_t *ret_begin_ns, uint64_t *ret_end_ns);

/* Returns how many buffers CUPTI has. */
uint32_t buffers_out(void);

/* Returns how many records the reused buffers could have held. */
uint64_t buffers_dropped(void);
