/* SPDX-License-Identifier: Apache-2.0 */
/* cpus.h - reads how many cores a run may use, and how busy they are. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns the number of cores in the affinity mask of a process; -1: unknown. */
int64_t cpus_affinity(int32_t pid);

/* Returns the lowest CPU limit on any level of control groups, in 1/1000 core; -1: no limit. */
int64_t cpus_limit_milli(const char *root, int32_t pid);

/* Returns the CPU time of the process that began at `start_ticks`; -1: it has ended. */
int64_t cpus_used_ns(int32_t pid, uint64_t start_ticks);

/* Returns how long the cores of the affinity mask were busy since boot; -1: unknown. */
int64_t cpus_busy_ns(const char *root, int32_t pid);

/* The group through which a process gets CPU time: a control group or, without one, a session. */
struct cpus_group {
	char name[56]; /* "": the process has no group */
	int nice;      /* nice value of the session */
};

void cpus_group(const char *root, int32_t pid, struct cpus_group *ret);

/*
 * Read how long a process's main thread or, by_all, up to 64 of its threads ran, and how long they
 * waited for a core. Return false if the kernel does not say.
 */
bool cpus_wanted(int32_t pid, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
bool cpus_wanted_by_all(int32_t pid, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
