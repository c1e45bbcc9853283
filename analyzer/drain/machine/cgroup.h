/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h - finds a process's control groups, of version 1 or 2, and reads their files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGROUP_PATH 1024

enum cgroup_controller { CGROUP_CPU, CGROUP_MEMORY };

struct cgroup {
	bool is_v2;
	char top[CGROUP_PATH]; /* the group that is the root of the mount */
	char mount[CGROUP_PATH];
	char group[CGROUP_PATH]; /* path of the process's group; "": the root, or none */
	size_t above; /* length of the part of `group` that is above the mount */
};

/* `version` is 1 or 2. Returns false if there are no control groups of that version. */
bool cgroup_find(const char *root, int32_t pid, int version, enum cgroup_controller controller,
		 struct cgroup *ret);

/* Goes to the group above. Returns false if the mount shows none above. */
bool cgroup_climb(struct cgroup *at);

/* Reads the first line of a group's file. Returns false if there is no line. */
bool cgroup_read(const char *root, const struct cgroup *at, const char *name, char *text,
		 size_t size);

/*
 * Returns how much more memory a process may take before a limit of the machine or of one of its
 * groups; NAN: unknown. Memory of cached files counts as free: the kernel drops them for a process.
 */
double cgroup_free_bytes(const char *root, int32_t pid);
