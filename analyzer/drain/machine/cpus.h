/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpus.h - how many cores a run may use, and how busy a process and all cores are.
 *
 * All is read from /proc and the control groups, which costs the training nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns the number of cores in a process's affinity mask, or -1 if it is unknown. */
int64_t cpus_affinity(int32_t pid);

/*
 * Returns the lowest CPU limit of a process's control groups, over all levels, in thousandths of a
 * core: cpu.max of version 2, cpu.cfs_quota_us / cpu.cfs_period_us of version 1. Returns -1 if no
 * limit is known. `root`, "" in production, is put before every path.
 */
int64_t cpus_limit_milli(const char *root, int32_t pid);

/* Returns the CPU time, of all threads, of the process begun at `start_ticks`; -1 if it is gone. */
int64_t cpus_used_ns(int32_t pid, uint64_t start_ticks);

/*
 * Returns how long the cores in a process's affinity mask were busy since boot, with any program,
 * including time that a hypervisor took, or -1 if it is unknown.
 */
int64_t cpus_busy_ns(const char *root, int32_t pid);

/* A group between which the scheduler divides the cores: a control group, or else a session. */
struct cpus_group {
	char name[56]; /* "": the process is in neither */
	int nice;      /* nice value of a session */
};

void cpus_group(const char *root, int32_t pid, struct cpus_group *ret);

/*
 * Return how long a process ran, and how long it waited for a core: cpus_wanted() its first thread,
 * cpus_wanted_by_all() up to 64 threads. Both return false if the kernel does not say.
 */
bool cpus_wanted(int32_t pid, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
bool cpus_wanted_by_all(int32_t pid, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
