/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffers.h - the buffers that CUPTI writes its records into.
 *
 * FREE -> OUT (CUPTI has it) -> DONE (it is to be read) -> READING -> FREE. CUPTI asks for one in
 * the middle of the host's launches and gives it back on a thread of its own: both take no lock and
 * allocate nothing. They are small because they come back when they are full.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFER_BYTES        ((size_t)256 << 10)
#define BUFFER_RECORDS_MOST (BUFFER_BYTES / 40) /* of launches: those of graphs are shortest */
#define BUFFER_LOST_NS      UINT64_C(15000000000)

/* 0 or -errno. `never_null`: CUPTI breaks if it gets none. */
int buffers_init(bool never_null);

/* For CUPTI. NULL: all are taken, and CUPTI counts what it drops. */
uint8_t *buffers_request(void);

bool buffers_is_ours(const uint8_t *buffer);

/*
 * Marks the buffer, or all that CUPTI has: another user's records may come to lie in it from now
 * on. A mark stays until the buffer is requested again.
 */
void buffers_share(const uint8_t *buffer);
void buffers_share_out(void);
bool buffers_is_shared(const uint8_t *buffer);

/* CUPTI has at least one that is marked. */
bool buffers_shared_out(void);

/*
 * CUPTI gives it back. `forced_ns`: since when it was made to give back all buffers, with what has
 * not ended; 0: it was not, or by us.
 */
void buffers_complete(uint8_t *buffer, size_t valid_size, uint64_t forced_ns);

/* The next one to read, or NULL. */
uint8_t *buffers_take(size_t *ret_valid_size);
uint64_t buffers_requested_ns(const uint8_t *buffer);
uint64_t buffers_forced_ns(const uint8_t *buffer);
uint32_t buffers_thread(const uint8_t *buffer); /* that requested it */

/* It was read; `reached_ns`: each stream in it had begun with its first operation by then. */
void buffers_free(uint8_t *buffer, uint64_t reached_ns);

/*
 * What began before this has been in a buffer that was taken: nothing older is with CUPTI or not
 * read yet. `now_ns` if nothing is. See coverage.h for what it rests on.
 */
uint64_t buffers_complete_ns(uint64_t now_ns);

/*
 * A buffer that does not come back: a later one of the same thread did, BUFFER_LOST_NS ago. What it
 * holds ran in the time returned; to be asked until there is none. `forced_ns`: each
 * from before that CUPTI still has is lost, as it was made to give back everything; 0: it was not.
 *
 * A thread writes into one buffer at a time and requests the next when that is full, whether
 * threads have buffers of their own (CUDA 13) or share one. What it launched last into the lost one
 * may have been queued for long: it ran before what the thread launched into the next, as work on
 * one stream is done in order. The risk that remains is a stream that is in the lost one alone.
 */
bool buffers_take_lost(uint64_t forced_ns, uint64_t *ret_begin_ns, uint64_t *ret_end_ns);

/* How many CUPTI has. */
uint32_t buffers_out(void);

/* Buffers that were taken from CUPTI's records for want of room, in records' worth. */
uint64_t buffers_dropped(void);
