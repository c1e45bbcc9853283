/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - CLOCK_MONOTONIC, which all records use, and a cheaper clock for durations.
 *
 * A tick is one count of the CPU's counter if the kernel itself keeps time by that, else one
 * nanosecond of CLOCK_MONOTONIC. Only differences of ticks mean something, and only within one
 * process.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#include "base/sys.h"

/* A tick is clock_scale / 2^32 nanoseconds. If clock_scale is 0, a tick is one nanosecond. */
extern HIDDEN volatile uint64_t clock_scale;

/* A duration of fewer ticks is shorter than the limit set by clock_limit(). 0: a tick is 1 ns. */
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

/* Converts a difference of ticks to nanoseconds. A negative one, by a change of CPU, becomes 0. */
static inline uint64_t clock_length_ns(uint64_t ticks)
{
	uint64_t scale = clock_scale;

	if (unlikely((int64_t)ticks < 0))
		return 0;
	return likely(scale) ? (uint64_t)((unsigned __int128)ticks * scale >> 32) : ticks;
}

/* Sets the limit below which clock_short_ns() may be used; called before the process records. */
void clock_limit(uint64_t ns);

/* Remembers the counter's value in the constructor, so that clock_begin() need not wait. */
void clock_mark(void);

/* Chooses the counter if it can be trusted, and measures its speed; called before recording. */
void clock_begin(void);

/* Measures the counter's speed again, over the longer time since the start; called now and then. */
void clock_refine(void);
