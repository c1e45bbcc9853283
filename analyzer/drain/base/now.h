/* SPDX-License-Identifier: Apache-2.0 */
/* now.h - reads the clock for all of a run's times, and the CPU time of this process. */
#pragma once

#include <stdint.h>
#include <time.h>

#include "dlprof/units.h"

static inline uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * (uint64_t)NS_PER_S + (uint64_t)time.tv_nsec;
}

static inline uint64_t cpu_ns(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) < 0)
		return 0;
	return (uint64_t)time.tv_sec * (uint64_t)NS_PER_S + (uint64_t)time.tv_nsec;
}

static inline uint64_t within(uint64_t least_ns, uint64_t most_ns, uint64_t ns)
{
	return ns < least_ns ? least_ns : ns > most_ns ? most_ns : ns;
}
