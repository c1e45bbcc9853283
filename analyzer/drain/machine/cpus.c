/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/machine/cpus.h"

#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "drain/base/process.h"
#include "drain/machine/cgroup.h"

#define PATH_LEN     1024
#define MOST_THREADS 64

int64_t cpus_affinity(int32_t pid)
{
	cpu_set_t set;

	if (sched_getaffinity(pid, sizeof(set), &set) < 0)
		return -1;
	return CPU_COUNT(&set);
}

static int64_t limit_of(const char *root, const struct cgroup *at)
{
	int64_t quota = -1, period = -1;
	char text[64];

	if (at->is_v2) {
		if (!cgroup_read(root, at, "cpu.max", text, sizeof(text)) ||
		    sscanf(text, "%" SCNd64 " %" SCNd64, &quota, &period) != 2)
			return -1;
	} else {
		if (cgroup_read(root, at, "cpu.cfs_quota_us", text, sizeof(text)))
			quota = strtoll(text, NULL, 10);
		if (cgroup_read(root, at, "cpu.cfs_period_us", text, sizeof(text)))
			period = strtoll(text, NULL, 10);
	}
	if (quota <= 0 || period <= 0 || quota > INT64_MAX / 1000)
		return -1;
	return quota * 1000 / period > 0 ? quota * 1000 / period : 1;
}

int64_t cpus_limit_milli(const char *root, int32_t pid)
{
	int64_t least = -1, limit;
	struct cgroup at;

	for (int version = 1; version <= 2; version++) {
		if (!cgroup_find(root, pid, version, CGROUP_CPU, &at))
			continue;
		do {
			limit = limit_of(root, &at);
			if (limit >= 0 && (least < 0 || limit < least))
				least = limit;
		} while (cgroup_climb(&at));
	}
	return least;
}

int64_t cpus_used_ns(int32_t pid, uint64_t start_ticks)
{
	struct process_stat stat;

	return process_stat_read(pid, &stat) && stat.start_ticks == start_ticks ? stat.used_ns : -1;
}

int64_t cpus_busy_ns(const char *root, int32_t pid)
{
	unsigned long long user, nice, system, interrupts, softirqs, stolen, ticks = 0;
	long rate = sysconf(_SC_CLK_TCK);
	char path[PATH_LEN], line[512];
	int cpu, found = 0;
	cpu_set_t set;
	FILE *file;

	if (rate <= 0 || sched_getaffinity(pid, sizeof(set), &set) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/proc/stat", root);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "cpu%d %llu %llu %llu %*u %*u %llu %llu %llu", &cpu, &user, &nice,
			   &system, &interrupts, &softirqs, &stolen) != 7 ||
		    cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &set))
			continue;
		ticks += user + nice + system + interrupts + softirqs + stolen;
		found++;
	}
	fclose(file);
	/* In some containers /proc/stat lacks cores of the mask. Then the busy time is unknown. */
	return found == CPU_COUNT(&set) ? (int64_t)ticks * ((int64_t)NS_PER_S / rate) : -1;
}

/*
 * Reads a line like "/autogroup-29926 nice 0". A process without a control group shares the CPU by
 * its session (autogroup, see sched(7)).
 */
static void read_session(const char *root, int32_t pid, struct cpus_group *ret)
{
	char path[PATH_LEN], line[64];

	snprintf(path, sizeof(path), "%s/proc/sys/kernel/sched_autogroup_enabled", root);
	if (!process_line(path, line, sizeof(line)) || line[0] != '1')
		return;
	snprintf(path, sizeof(path), "%s/proc/%" PRId32 "/autogroup", root, pid);
	if (process_line(path, line, sizeof(line)))
		sscanf(line, "/%55s nice %d", ret->name, &ret->nice);
}

void cpus_group(const char *root, int32_t pid, struct cpus_group *ret)
{
	struct cgroup at;
	char text[64];

	*ret = (struct cpus_group){0};
	for (int version = 1; version <= 2; version++) {
		if (!cgroup_find(root, pid, version, CGROUP_CPU, &at))
			continue;
		while (at.is_v2 && at.group[0] &&
		       !cgroup_read(root, &at, "cpu.weight", text, sizeof(text)) &&
		       cgroup_climb(&at))
			;
		if (!at.group[0])
			continue;
		/* A long path loses its start, which says less than the end. */
		snprintf(ret->name, sizeof(ret->name), "%s",
			 at.group + (strlen(at.group) < sizeof(ret->name)
					     ? 0
					     : strlen(at.group) + 1 - sizeof(ret->name)));
		return;
	}
	read_session(root, pid, ret);
}

static bool read_pair(const char *path, int64_t *ret_first, int64_t *ret_second)
{
	char line[128];

	return process_line(path, line, sizeof(line)) &&
	       sscanf(line, "%" SCNd64 " %" SCNd64, ret_first, ret_second) == 2;
}

bool cpus_wanted(int32_t pid, int64_t *ret_ran_ns, int64_t *ret_waited_ns)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/schedstat", pid);
	return read_pair(path, ret_ran_ns, ret_waited_ns);
}

bool cpus_wanted_by_all(int32_t pid, int64_t *ret_ran_ns, int64_t *ret_waited_ns)
{
	int64_t ran_ns, waited_ns;
	struct dirent *entry;
	char path[320];
	size_t count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/task", pid);
	folder = opendir(path);
	if (!folder)
		return false;
	*ret_ran_ns = *ret_waited_ns = 0;
	while (count < MOST_THREADS && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "/proc/%" PRId32 "/task/%s/schedstat", pid,
			 entry->d_name);
		if (entry->d_name[0] == '.' || !read_pair(path, &ran_ns, &waited_ns))
			continue;
		*ret_ran_ns += ran_ns;
		*ret_waited_ns += waited_ns;
		count++;
	}
	closedir(folder);
	return count > 0;
}
