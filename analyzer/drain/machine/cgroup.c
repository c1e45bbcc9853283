/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/machine/cgroup.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drain/base/list.h"
#include "drain/base/process.h"

static const char *const names[] = {[CGROUP_CPU] = "cpu", [CGROUP_MEMORY] = "memory"};

/* Finds a controller's mount: "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,cpu". */
static bool find_mount(const char *root, const char *controller, struct cgroup *ret)
{
	char line[4 * CGROUP_PATH], type[32], options[CGROUP_PATH];
	const char *rest;
	bool found = false;
	FILE *file;

	snprintf(line, sizeof(line), "%s/proc/self/mountinfo", root);
	file = fopen(line, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		rest = strstr(line, " - ");
		if (!rest || sscanf(rest, " - %31s %*s %1023s", type, options) != 2 ||
		    strcmp(type, ret->is_v2 ? "cgroup2" : "cgroup") != 0 ||
		    (!ret->is_v2 && !list_has(options, controller)))
			continue;
		found = sscanf(line, "%*s %*s %*s %1023s %1023s", ret->top, ret->mount) == 2;
	}
	fclose(file);
	return found;
}

/* Finds mounts only once: they do not change, and hundreds of processes are looked at. */
static bool find_hierarchy(const char *root, bool is_v2, enum cgroup_controller controller,
			   struct cgroup *ret)
{
	static struct {
		bool is_known, is_there;
		struct cgroup at;
	} real[2][2];

	ret->is_v2 = is_v2;
	if (*root)
		return find_mount(root, names[controller], ret);
	if (!real[controller][is_v2].is_known) {
		real[controller][is_v2].is_there = find_mount(root, names[controller], ret);
		real[controller][is_v2].at = *ret;
	}
	real[controller][is_v2].is_known = true;
	*ret = real[controller][is_v2].at;
	return real[controller][is_v2].is_there;
}

/* Finds a process's group by a line like "0::/user.slice" or, in version 1, "4:cpu:/docker/12a". */
static void find_group(const char *root, int32_t pid, const char *controller, struct cgroup *ret)
{
	const size_t length = strlen(ret->top);
	char line[2 * CGROUP_PATH], *controllers, *path;
	FILE *file;

	snprintf(line, sizeof(line), "%s/proc/%" PRId32 "/cgroup", root, pid);
	file = fopen(line, "re");
	while (file && !ret->group[0] && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		controllers = strchr(line, ':');
		path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		if (ret->is_v2 ? !controllers[1] : list_has(controllers + 1, controller))
			snprintf(ret->group, sizeof(ret->group), "%s", path);
	}
	if (file)
		fclose(file);
	/* A container's mount may show a group below the host's root as its own root. */
	if (strcmp(ret->top, "/") != 0 && strncmp(ret->group, ret->top, length) == 0 &&
	    (!ret->group[length] || ret->group[length] == '/'))
		ret->above = length;
	if (strcmp(ret->group, "/") == 0)
		ret->group[0] = '\0';
}

bool cgroup_find(const char *root, int32_t pid, int version, enum cgroup_controller controller,
		 struct cgroup *ret)
{
	*ret = (struct cgroup){0};
	if (!find_hierarchy(root, version == 2, controller, ret))
		return false;
	find_group(root, pid, names[controller], ret);
	return true;
}

bool cgroup_climb(struct cgroup *at)
{
	char *slash = strrchr(at->group + at->above, '/');

	if (slash)
		*slash = '\0';
	return slash;
}

static const char *path_of(const char *root, const struct cgroup *at, const char *name,
			   char path[4 * CGROUP_PATH])
{
	snprintf(path, 4 * CGROUP_PATH, "%s%s%s/%s", root, at->mount, at->group + at->above, name);
	return path;
}

bool cgroup_read(const char *root, const struct cgroup *at, const char *name, char *text,
		 size_t size)
{
	char path[4 * CGROUP_PATH];

	return process_line(path_of(root, at, name, path), text, size);
}

/* Adds up the numbers after one of these words, in lines that begin with the word. */
static double sum_of(const char *path, const char *word, const char *other)
{
	FILE *file = fopen(path, "re");
	double sum = 0, number;
	char line[256], found[64];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %lf", found, &number) == 2 &&
		    (strcmp(found, word) == 0 || strcmp(found, other) == 0))
			sum += number;
	if (file)
		fclose(file);
	return sum;
}

static double free_of(const char *root, const struct cgroup *at)
{
	char most[64], used[64], path[4 * CGROUP_PATH];
	double limit, taken;

	if (!cgroup_read(root, at, at->is_v2 ? "memory.max" : "memory.limit_in_bytes", most,
			 sizeof(most)) ||
	    !cgroup_read(root, at, at->is_v2 ? "memory.current" : "memory.usage_in_bytes", used,
			 sizeof(used)) ||
	    sscanf(most, "%lf", &limit) != 1 || sscanf(used, "%lf", &taken) != 1)
		return NAN;
	return limit - taken +
	       sum_of(path_of(root, at, "memory.stat", path),
		      at->is_v2 ? "inactive_file" : "total_inactive_file",
		      at->is_v2 ? "active_file" : "total_active_file");
}

double cgroup_free_bytes(const char *root, int32_t pid)
{
	char path[CGROUP_PATH];
	double least;
	struct cgroup at;

	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	least = 1024 * sum_of(path, "MemAvailable:", "");
	if (!(least > 0))
		least = NAN;
	for (int version = 1; version <= 2; version++) {
		if (!cgroup_find(root, pid, version, CGROUP_MEMORY, &at))
			continue;
		do
			least = fmin(least, free_of(root, &at));
		while (cgroup_climb(&at));
	}
	return least;
}
