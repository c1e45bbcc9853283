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
#include "drain/base/list.h"
#include "drain/base/process.h"

#define PATH_LEN     1024
#define MOST_THREADS 64

int64_t cpus_affinity(int32_t pid)
{
	cpu_set_t set;

	if (sched_getaffinity(pid, sizeof(set), &set) < 0)
		return -1;
	return CPU_COUNT(&set);
}

struct hierarchy {
	bool is_v2;
	char top[PATH_LEN]; /* group that the mount shows as its root */
	char mount[PATH_LEN];
	char group[PATH_LEN]; /* "": the process has no group */
};

/* A line is like "31 23 0:28 / /sys/fs/cgroup rw shared:1 - cgroup2 cgroup2 rw,cpu". */
static bool find_mount(const char *root, bool is_v2, struct hierarchy *ret)
{
	char line[4 * PATH_LEN], type[32], options[PATH_LEN];
	const char *rest;
	bool found = false;
	FILE *file;

	snprintf(line, sizeof(line), "%s/proc/self/mountinfo", root);
	file = fopen(line, "re");
	if (!file)
		return false;
	ret->is_v2 = is_v2;
	ret->group[0] = '\0';
	while (!found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		rest = strstr(line, " - ");
		if (!rest || sscanf(rest, " - %31s %*s %1023s", type, options) != 2 ||
		    strcmp(type, is_v2 ? "cgroup2" : "cgroup") != 0 ||
		    (!is_v2 && !list_has(options, "cpu")))
			continue;
		found = sscanf(line, "%*s %*s %*s %1023s %1023s", ret->top, ret->mount) == 2;
	}
	fclose(file);
	return found;
}

/* Searches mounts only once, as they do not change, and hundreds of processes are read. */
static bool find_hierarchy(const char *root, bool is_v2, struct hierarchy *ret)
{
	static struct {
		bool is_known, is_there;
		struct hierarchy at;
	} real[2];

	if (*root)
		return find_mount(root, is_v2, ret);
	if (!real[is_v2].is_known)
		real[is_v2].is_there = find_mount(root, is_v2, &real[is_v2].at);
	real[is_v2].is_known = true;
	*ret = real[is_v2].at;
	return real[is_v2].is_there;
}

/* A line is like "0::/user.slice", or in version 1 "4:cpu,cpuacct:/docker/12ab". */
static void find_group(const char *root, int32_t pid, struct hierarchy *ret)
{
	char line[2 * PATH_LEN], *names, *path;
	FILE *file;

	snprintf(line, sizeof(line), "%s/proc/%" PRId32 "/cgroup", root, pid);
	file = fopen(line, "re");
	if (!file)
		return;
	while (!ret->group[0] && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		names = strchr(line, ':');
		path = names ? strchr(names + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		if (ret->is_v2 ? !names[1] : list_has(names + 1, "cpu"))
			snprintf(ret->group, sizeof(ret->group), "%s", path);
	}
	fclose(file);
}

static bool read_line(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	bool found;

	if (!file)
		return false;
	found = fgets(text, (int)size, file) != NULL;
	fclose(file);
	return found;
}

static bool read_file(const char *root, const struct hierarchy *at, const char *group,
		      const char *name, char *text, size_t size)
{
	char path[4 * PATH_LEN];

	snprintf(path, sizeof(path), "%s%s%s/%s", root, at->mount, group, name);
	return read_line(path, text, size);
}

static int64_t limit_of(const char *root, const struct hierarchy *at, const char *group)
{
	int64_t quota = -1, period = -1;
	char text[64];

	if (at->is_v2) {
		if (!read_file(root, at, group, "cpu.max", text, sizeof(text)) ||
		    sscanf(text, "%" SCNd64 " %" SCNd64, &quota, &period) != 2)
			return -1;
	} else {
		if (read_file(root, at, group, "cpu.cfs_quota_us", text, sizeof(text)))
			quota = strtoll(text, NULL, 10);
		if (read_file(root, at, group, "cpu.cfs_period_us", text, sizeof(text)))
			period = strtoll(text, NULL, 10);
	}
	if (quota <= 0 || period <= 0 || quota > INT64_MAX / 1000)
		return -1;
	return quota * 1000 / period > 0 ? quota * 1000 / period : 1;
}

static int64_t lowest(const char *root, struct hierarchy *at)
{
	char *group = at->group, *slash;
	size_t length = strlen(at->top);
	int64_t least = -1, limit;

	/* A container's mount may show a group below the host's root: its path is cut off. */
	if (strcmp(at->top, "/") != 0 && strncmp(group, at->top, length) == 0 &&
	    (!group[length] || group[length] == '/'))
		group += length;
	if (strcmp(group, "/") == 0)
		group++;
	for (;;) {
		limit = limit_of(root, at, group);
		if (limit >= 0 && (least < 0 || limit < least))
			least = limit;
		slash = strrchr(group, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

int64_t cpus_limit_milli(const char *root, int32_t pid)
{
	int64_t least = -1, limit;
	struct hierarchy at;

	for (int version = 1; version <= 2; version++) {
		if (!find_hierarchy(root, version == 2, &at))
			continue;
		find_group(root, pid, &at);
		limit = lowest(root, &at);
		if (limit >= 0 && (least < 0 || limit < least))
			least = limit;
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
	/* In some containers /proc/stat lacks cores of the mask: then their time is unknown. */
	return found == CPU_COUNT(&set) ? (int64_t)ticks * ((int64_t)NS_PER_S / rate) : -1;
}

static void climb(const char *root, struct hierarchy *at)
{
	char text[64], *slash;

	while (at->group[0] && strcmp(at->group, "/") != 0 &&
	       !read_file(root, at, at->group, "cpu.weight", text, sizeof(text))) {
		slash = strrchr(at->group, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
}

static bool is_top(const struct hierarchy *at)
{
	return !at->group[0] || strcmp(at->group, "/") == 0;
}

/*
 * Reads a line like "/autogroup-29926 nice 0". Without a cgroup, a process gets its share of the
 * CPU by its session (autogroup, see sched(7)).
 */
static void read_session(const char *root, int32_t pid, struct cpus_group *ret)
{
	char path[PATH_LEN], line[64];

	snprintf(path, sizeof(path), "%s/proc/sys/kernel/sched_autogroup_enabled", root);
	if (!read_line(path, line, sizeof(line)) || line[0] != '1')
		return;
	snprintf(path, sizeof(path), "%s/proc/%" PRId32 "/autogroup", root, pid);
	if (read_line(path, line, sizeof(line)))
		sscanf(line, "/%55s nice %d", ret->name, &ret->nice);
}

void cpus_group(const char *root, int32_t pid, struct cpus_group *ret)
{
	struct hierarchy at;

	*ret = (struct cpus_group){0};
	for (int version = 1; version <= 2; version++) {
		if (!find_hierarchy(root, version == 2, &at))
			continue;
		find_group(root, pid, &at);
		if (at.is_v2)
			climb(root, &at);
		if (is_top(&at))
			continue;
		/* The end of a long path says more than its start. */
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

	return read_line(path, line, sizeof(line)) &&
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
