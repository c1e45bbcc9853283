/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpus.h - how many cores a run may use, how busy a process and all cores are.
 *
 * All is asked of the kernel from outside, which costs the training nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Cores in the affinity mask of a process; -1: unknown. */
int64_t cpus_affinity(int32_t pid);

/*
 * Thousandths of a core that the CPU limits of a process's control groups leave, the lowest of all
 * levels: cpu.max of version 2, cpu.cfs_quota_us / cpu.cfs_period_us of version 1. -1: no limit, or
 * unknown. `root` goes before every path ("": the real ones).
 */
int64_t cpus_limit_milli(const char *root, int32_t pid);

/* CPU time of all threads of the process that started at this tick; -1: there is none. */
int64_t cpus_used_ns(int32_t pid, uint64_t start_ticks);

/*
 * How long the cores in a process's affinity mask were busy since the machine started, for
 * whomever, with what a hypervisor took. -1: unknown.
 */
int64_t cpus_busy_ns(const char *root, int32_t pid);

/* A group between which the scheduler divides the cores: a control group, else a session. */
struct cpus_group {
	char name[56]; /* "": neither of them */
	int nice;      /* nice value of a session */
};

void cpus_group(const char *root, int32_t pid, struct cpus_group *ret);

/*
 * How long the first thread of a process ran, and how long it waited for a core;
 * cpus_wanted_by_all() adds up 64 threads at most. False: the kernel does not tell.
 */
bool cpus_wanted(int32_t pid, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
bool cpus_wanted_by_all(int32_t pid, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
