/* SPDX-License-Identifier: Apache-2.0 */
/* cpus.h - reads how many cores a run may use, and how busy they are. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns the number of cores in a process's affinity mask; -1: unknown. */
int64_t cpus_affinity(int32_t pid);

/* Returns the lowest CPU limit of all levels of cgroups, in 1/1000 core; -1: there is none. */
int64_t cpus_limit_milli(const char *root, int32_t pid);

/* Returns the CPU time of all threads of the process begun at `start_ticks`; -1: it is gone. */
int64_t cpus_used_ns(int32_t pid, uint64_t start_ticks);

/* Returns the time since boot that the affinity mask's cores were busy; -1: unknown. */
int64_t cpus_busy_ns(const char *root, int32_t pid);

/* The group by which a process gets its cores: a control group or, without one, a session. */
struct cpus_group {
	char name[56]; /* "": the process is in neither */
	int nice;      /* nice value of a session */
};

void cpus_group(const char *root, int32_t pid, struct cpus_group *ret);

/*
 * Read how long a process's main thread, or up to 64 of its threads, ran and waited for a core.
 * Return false if the kernel does not say.
 */
bool cpus_wanted(int32_t pid, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
bool cpus_wanted_by_all(int32_t pid, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
