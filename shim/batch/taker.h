/* SPDX-License-Identifier: Apache-2.0 */
/* taker.h - what this thread takes from a loader for another, or from another thread; ahead.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether what this thread is about to get from the loader of that stream, or the iterator that it
 * makes (0), may be for another one; ahead.h.
 */
bool taker_asks(uint64_t stream);

/* It is not; or, `doubtful`, where it goes cannot be followed. */
void taker_gives_up(bool doubtful);

/* This thread waited for what it took out of a queue, or a future. False: it is none of ours. */
bool taker_takes(const void *key, const void *object, uint64_t begin_ns, uint64_t end_ns);

/* There was nothing in it; key NULL: in some future. */
void taker_found_none(const void *key, uint64_t begin_ns);

/* It waited for the end of what is handed on. */
void taker_ends(uint64_t begin_ns);

/* This thread runs a backward pass, or an optimizer. */
void taker_trains(void);
