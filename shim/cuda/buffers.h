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

#define BUFFER_BYTES ((size_t)256 << 10)

/* 0 or -errno. `never_null`: CUPTI breaks if it gets none. */
int buffers_init(bool never_null);

/* For CUPTI. NULL: all are taken, and CUPTI counts what it drops. */
uint8_t *buffers_request(void);

bool buffers_is_ours(const uint8_t *buffer);

/* CUPTI gives it back. */
void buffers_complete(uint8_t *buffer, size_t valid_size);

/* The next one to read, or NULL. */
uint8_t *buffers_take(size_t *ret_valid_size);
void buffers_free(uint8_t *buffer);

/*
 * What began before this has been in a buffer that was taken: nothing older is with CUPTI or not
 * read yet. `now_ns` if nothing is.
 */
uint64_t buffers_complete_ns(uint64_t now_ns);

/* What was requested before and is with CUPTI still does not come back; false: there is none. */
bool buffers_abandon(uint64_t before_ns);

/* How many CUPTI has. */
uint32_t buffers_out(void);

/* Buffers that were taken from CUPTI's records for want of room, in records' worth. */
uint64_t buffers_dropped(void);

#endif
