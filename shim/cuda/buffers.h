/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffers.h - the buffers that CUPTI writes its records into.
 *
 * FREE -> OUT (CUPTI has it) -> DONE (it is to be read) -> READING -> FREE. CUPTI asks for one in
 * the middle of the host's launches and gives it back on a thread of its own: both take no lock and
 * allocate nothing. They are small because they come back when they are full.
 */
#ifndef CUDA_BUFFERS_H
#define CUDA_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFER_BYTES        ((size_t)256 << 10)
#define BUFFER_RECORDS_MOST (BUFFER_BYTES / 40) /* of launches: those of graphs are shortest */
#define BUFFER_LOST_NS      UINT64_C(60000000000)

/* 0 or -errno. `never_null`: CUPTI breaks if it gets none. */
int buffers_init(bool never_null);

/* For CUPTI. NULL: all are taken, and CUPTI counts what it drops. */
uint8_t *buffers_request(void);

bool buffers_is_ours(const uint8_t *buffer);

/* CUPTI gives it back. */
void buffers_complete(uint8_t *buffer, size_t valid_size);

/* The next one to read, or NULL. */
uint8_t *buffers_take(size_t *ret_valid_size);
uint64_t buffers_requested_ns(const uint8_t *buffer);
void buffers_free(uint8_t *buffer);

/*
 * What began before this has been in a buffer that was taken: nothing older is with CUPTI or not
 * read yet. `now_ns` if nothing is. It rests on this: a record's place is taken when its operation
 * is launched, so a buffer that was requested at a time holds nothing that began before it. Where
 * that is seen not to hold, what is known is cut back: reader_lag_ns().
 */
uint64_t buffers_complete_ns(uint64_t now_ns);

/*
 * A buffer that does not come back: a later one of the same thread did, BUFFER_LOST_NS ago. What it
 * holds began in the time returned; to be asked until there is none. `forced_ns`: CUPTI was then
 * made to give back everything, so each from before that it still has is lost; 0: it was not.
 *
 * A thread writes into one buffer at a time and requests the next when that is full, whether
 * threads have buffers of their own (CUDA 13) or share one. An operation that lasts longer than
 * BUFFER_LOST_NS beyond all later ones of its thread makes a gap of what is only late.
 */
bool buffers_take_lost(uint64_t forced_ns, uint64_t *ret_begin_ns, uint64_t *ret_end_ns);

/* How many CUPTI has. */
uint32_t buffers_out(void);

/* Buffers that were taken from CUPTI's records for want of room, in records' worth. */
uint64_t buffers_dropped(void);

#endif
