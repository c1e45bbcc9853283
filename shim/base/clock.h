/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - CLOCK_MONOTONIC, which all records use, and a cheaper clock for durations.
 *
 * A tick is a count of the CPU's counter if the kernel trusts that, else 1 ns. Compare ticks only
 * within a process.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#include "base/sys.h"

/* Nanoseconds of a tick, multiplied by 2^32; 0: a tick is one nanosecond. */
extern HIDDEN volatile uint64_t clock_scale;

/* Durations of fewer ticks than this are below the limit of clock_limit(). 0: no duration is. */
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

/* Converts a duration. `ticks` must be less than clock_short_ticks. */
static inline uint64_t clock_short_ns(uint64_t ticks)
{
	return ticks * clock_scale >> 32;
}

/* Converts a duration to nanoseconds. A negative one, as after a change of CPU, becomes 0. */
static inline uint64_t clock_length_ns(uint64_t ticks)
{
	uint64_t scale = clock_scale;

	if (unlikely((int64_t)ticks < 0))
		return 0;
	return likely(scale) ? (uint64_t)((unsigned __int128)ticks * scale >> 32) : ticks;
}

/* Sets the limit of short durations, at most 2^31 ns. Called before the process records. */
void clock_limit(uint64_t ns);

/* Reads both clocks once. The constructor calls this, so that clock_begin() need not wait. */
void clock_mark(void);

/* Chooses the clock and measures its speed, before the process records. */
void clock_begin(void);

void clock_refine(void);
