/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the one clock of all records. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

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

#endif
