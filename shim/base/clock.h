/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the one clock of all records, CLOCK_MONOTONIC, and a cheaper one for lengths of time.
 *
 * Ticks are the CPU's counter where the kernel itself keeps time by it, else nanoseconds of
 * CLOCK_MONOTONIC. Only differences of them mean something, and only within one process.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#include "base/sys.h"

/* ns = ticks * scale / 2^32; 0: ticks are nanoseconds. */
extern HIDDEN volatile uint64_t clock_scale;

/* Fewer ticks than this are below the limit of clock_limit(); 0: ticks are nanoseconds. */
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

/* Of fewer ticks of the counter than clock_short_ticks. */
static inline uint64_t clock_short_ns(uint64_t ticks)
{
	return ticks * clock_scale >> 32;
}

/* A difference of ticks; a negative one (the thread moved between CPUs) becomes 0. */
static inline uint64_t clock_length_ns(uint64_t ticks)
{
	uint64_t scale = clock_scale;

	if (unlikely((int64_t)ticks < 0))
		return 0;
	return likely(scale) ? (uint64_t)((unsigned __int128)ticks * scale >> 32) : ticks;
}

/* What is not short; before the process records. */
void clock_limit(uint64_t ns);

/* From the constructor: where the counter stood then, so that clock_begin() need not wait. */
void clock_mark(void);

/* Before the process records: chooses the counter if it is to be trusted, and finds its speed. */
void clock_begin(void);

/* Now and then: the speed gets more exact the longer it is measured. */
void clock_refine(void);
