/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h - finds the control groups of a process, of both versions, and reads their files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGROUP_PATH 1024

enum cgroup_controller { CGROUP_CPU, CGROUP_MEMORY };

struct cgroup {
	bool is_v2;
	char top[CGROUP_PATH]; /* group that the mount shows as its root */
	char mount[CGROUP_PATH];
	char group[CGROUP_PATH]; /* "": the root, or the process has no group */
	size_t above; /* length of the part of `group` that is not below the mount */
};

/* `version` is 1 or 2. Returns false if there are no control groups of that version. */
bool cgroup_find(const char *root, int32_t pid, int version, enum cgroup_controller controller,
		 struct cgroup *ret);

/* Moves on to the group above. Returns false if the mount shows none. */
bool cgroup_climb(struct cgroup *at);

/* Reads the first line of a group's file. Returns false if there is none. */
bool cgroup_read(const char *root, const struct cgroup *at, const char *name, char *text,
		 size_t size);

/*
 * Returns how much more memory a process may take, by the machine and by all levels of its groups:
 * NAN if unknown. Cached files count as free, as the kernel drops them for it.
 */
double cgroup_free_bytes(const char *root, int32_t pid);
