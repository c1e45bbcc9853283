/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the one clock of all records, CLOCK_MONOTONIC, and a cheaper one for lengths of time.
 *
 * Ticks are the CPU's counter if the kernel itself keeps time by that, else nanoseconds of
 * CLOCK_MONOTONIC. Only differences of ticks mean something, and only within one process.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#include "base/sys.h"

/* A tick is clock_scale / 2^32 nanoseconds; with 0 it is one nanosecond. */
extern HIDDEN volatile uint64_t clock_scale;

/* Times of fewer ticks are below the limit of clock_limit(); 0: a tick is a nanosecond. */
extern HIDDEN volatile uint64_t clock_short_ticks;

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

static inline uint64_t clock_ticks(void)
{
	return likely(clock_scale) ? clock_counter() : clock_now_ns();
}

/* Converts a time of fewer than clock_short_ticks to nanoseconds. */
static inline uint64_t clock_short_ns(uint64_t ticks)
{
	return ticks * clock_scale >> 32;
}

/* Converts a difference of ticks to nanoseconds; a negative one (a change of CPU) becomes 0. */
static inline uint64_t clock_length_ns(uint64_t ticks)
{
	uint64_t scale = clock_scale;

	if (unlikely((int64_t)ticks < 0))
		return 0;
	return likely(scale) ? (uint64_t)((unsigned __int128)ticks * scale >> 32) : ticks;
}

/* Sets the limit up to which a time is short; called before the process records. */
void clock_limit(uint64_t ns);

/* Notes where the counter stands, so that clock_begin() need not wait. For the constructor. */
void clock_mark(void);

/* Chooses the counter if it can be trusted, and finds its speed; before the process records. */
void clock_begin(void);

/* Measures the speed again, which gets more exact with time; called now and then. */
void clock_refine(void);
