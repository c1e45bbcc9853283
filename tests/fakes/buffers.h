/* SPDX-License-Identifier: Apache-2.0 */
/* buffers.h - activity buffers, requested on the thread that calls CUDA, given back on another. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records.h"

typedef void request_fn(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			 size_t valid_bytes);

void buffers_register(request_fn *request, complete_fn *complete);
void buffers_set_zeroed(bool by_client);
void buffers_set_per_thread(bool per_thread);
bool buffers_are_per_thread(void);
void buffers_set_period(uint32_t ms);
void buffers_add(const struct entry *entry);
/* Gives back buffers whose records are complete; forced: all, with end 0 of what still runs. */
void buffers_flush(bool forced);
size_t buffers_dropped(void); /* number of records lost since the last call */
bool buffers_in_callback(void);
/* FAKE_CUPTI_LOCK=1: CUPTI holds this lock while it asks for a buffer, or reads its clock. */
void buffers_lock(bool locked);
