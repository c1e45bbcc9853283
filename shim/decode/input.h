/* SPDX-License-Identifier: Apache-2.0 */
/* input.h - ends calls of libaio, liburing and cuFile, which read without libc. */
#pragma once

#include "decode/unit.h"

void input_submit_end(struct unit *unit, const void *requests, int count);
void input_aio_end(struct unit *unit, const void *events, int count);
void input_cufile_end(struct unit *unit, const void *requests, unsigned int count, bool done);
void input_uring_end(struct unit *unit, int status);
