/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffers.h - the buffers into which CUPTI writes its records.
 *
 * FREE -> OUT (with CUPTI) -> DONE (to be read) -> READING -> FREE. CUPTI requests buffers during
 * the host's launches, so no lock is taken.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFER_BYTES        ((size_t)256 << 10)
#define BUFFER_RECORDS_MOST (BUFFER_BYTES / 40) /* the shortest record, a graph's, has 40 bytes */
#define BUFFER_LOST_NS      UINT64_C(15000000000)

/* Prepares the pool. `never_null`: CUPTI crashes if it gets no buffer. Returns 0 or -errno. */
int buffers_init(bool never_null);

/* Returns a free buffer, or NULL if all are taken. */
uint8_t *buffers_request(void);

bool buffers_is_ours(const uint8_t *buffer);

/* Mark one buffer, or all that CUPTI has now: another user's records may be in them from now on. */
void buffers_share(const uint8_t *buffer);
void buffers_share_out(void);
bool buffers_is_shared(const uint8_t *buffer);

bool buffers_shared_out(void);

/* Takes a buffer back from CUPTI. `forced_ns`: when another user's forced flush began; 0: none. */
void buffers_complete(uint8_t *buffer, size_t valid_size, uint64_t forced_ns);

uint8_t *buffers_take(size_t *ret_valid_size);
uint64_t buffers_requested_ns(const uint8_t *buffer);
uint64_t buffers_forced_ns(const uint8_t *buffer);
uint32_t buffers_thread(const uint8_t *buffer);

/* Frees a buffer that was read. `reached_ns`: by then, each stream in it had begun an operation. */
void buffers_free(uint8_t *buffer, uint64_t reached_ns);

/* Returns up to when all operations are known. If CUPTI has no buffer of ours, that is `now_ns`. */
uint64_t buffers_complete_ns(uint64_t now_ns);

/*
 * Returns true if a buffer is lost, and sets the time from which its records come. A buffer is lost
 * if CUPTI gave back a later buffer of the same thread BUFFER_LOST_NS ago, or if it is older than
 * the flush that we forced at `forced_ns` (0: none).
 *
 * Operations of a stream run in order, so those recorded in a lost buffer ran before those in the
 * thread's next buffer. One risk remains: a stream that has records in the lost buffer only.
 */
bool buffers_take_lost(uint64_t forced_ns, uint64_t *ret_begin_ns, uint64_t *ret_end_ns);

uint32_t buffers_out(void);

/* Counts as lost the records in the last `bytes` of a buffer, in which CUPTI finds none. */
void buffers_lose(size_t bytes);

/* Returns how many records may be lost, at most: in unread buffers, and unread parts of buffers. */
uint64_t buffers_dropped(void);
