/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffers.h - the buffers into which CUPTI writes its records.
 *
 * FREE -> OUT (CUPTI has it) -> DONE (to be read) -> READING -> FREE. CUPTI requests a buffer
 * during the host's launches, and gives it back on a thread of its own, so both functions take no
 * lock and allocate nothing. Buffers are small, because CUPTI gives one back when it is full.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFER_BYTES        ((size_t)256 << 10)
#define BUFFER_RECORDS_MOST (BUFFER_BYTES / 40) /* launches; a graph's record is the shortest */
#define BUFFER_LOST_NS      UINT64_C(15000000000)

/* Makes the pool. `never_null`: CUPTI crashes if it gets no buffer. Returns 0 or -errno. */
int buffers_init(bool never_null);

/* Returns a buffer for CUPTI, or NULL if all are taken; then CUPTI counts what it drops. */
uint8_t *buffers_request(void);

bool buffers_is_ours(const uint8_t *buffer);

/*
 * buffers_share() marks a buffer, buffers_share_out() all that CUPTI has: from now on they may hold
 * records of another user. The mark stays until the buffer is requested again.
 */
void buffers_share(const uint8_t *buffer);
void buffers_share_out(void);
bool buffers_is_shared(const uint8_t *buffer);

/* Returns true if CUPTI has a marked buffer. */
bool buffers_shared_out(void);

/*
 * Takes a buffer back from CUPTI. `forced_ns` is when another user began a forced flush, which also
 * returns unfinished operations, or 0 if no other user did.
 */
void buffers_complete(uint8_t *buffer, size_t valid_size, uint64_t forced_ns);

/* Returns the next buffer to read, or NULL. */
uint8_t *buffers_take(size_t *ret_valid_size);
uint64_t buffers_requested_ns(const uint8_t *buffer);
uint64_t buffers_forced_ns(const uint8_t *buffer);
uint32_t buffers_thread(const uint8_t *buffer); /* the thread that requested the buffer */

/* Frees a buffer that was read. At `reached_ns` each stream in it had begun its first operation. */
void buffers_free(uint8_t *buffer, uint64_t reached_ns);

/*
 * Returns the time up to which all is complete: every operation that began before it was in a
 * buffer that has been read. It is `now_ns` if CUPTI holds no buffer. coverage.h explains why.
 */
uint64_t buffers_complete_ns(uint64_t now_ns);

/*
 * Returns true for each buffer that has just become lost, with the time that it covers: a later
 * buffer of the same thread came back BUFFER_LOST_NS ago. Call it until it returns false.
 * `forced_ns`: when CUPTI was forced to give back everything, after which older buffers are lost;
 * 0: it was not.
 *
 * A thread fills one buffer and then requests the next, whether each thread has its own buffers
 * (CUDA 13) or all share them. Its last launches in the lost buffer may have been queued for long,
 * but ran before those in the next buffer, since a stream runs its work in order. One risk remains:
 * a stream that is in the lost buffer only.
 */
bool buffers_take_lost(uint64_t forced_ns, uint64_t *ret_begin_ns, uint64_t *ret_end_ns);

/* Returns how many buffers CUPTI has. */
uint32_t buffers_out(void);

/* Returns how many records the reused buffers could have held. */
uint64_t buffers_dropped(void);
