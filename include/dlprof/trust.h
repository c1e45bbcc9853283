/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - which files of ours a program or library of ours may run or load: only what nobody else
 * can write who could not write the looker itself.
 *
 * Checked is what lies below the folder that both have in common, down to the file, links not
 * followed. What is above that folder is as safe as the looker is. What remains: in a user
 * namespace all users that have no number there look like one, 65534.
 */
#ifndef DLPROF_TRUST_H
#define DLPROF_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/* What meson writes beside what it built; it holds the folder where the rest of it was built. */
#define TRUST_BUILT "dlprof.built"

enum trust {
	TRUST_FINE,
	TRUST_LINK, /* or a device, a pipe */
	TRUST_OWNER,
	TRUST_OTHERS,
	TRUST_GROUP,
	TRUST_MAX
};

/* The file that looks for others, and its folder. */
struct trust_looker {
	uint32_t user;     /* the effective one of this process */
	uint32_t owner;    /* of the file */
	int64_t groups[2]; /* that may write the file, and the folder; -1: none may */
};

static inline struct trust_looker trust_looker(uint32_t user, const struct stat *file,
					       const struct stat *folder)
{
	return (struct trust_looker){
		.user = user,
		.owner = file->st_uid,
		.groups = {file->st_mode & S_IWGRP ? (int64_t)file->st_gid : -1,
			   folder->st_mode & S_IWGRP ? (int64_t)folder->st_gid : -1},
	};
}

/* Of one component, as lstat() has it. */
static inline enum trust trust_judge(const struct trust_looker *looker, uint32_t uid, uint32_t gid,
				     uint32_t mode)
{
	if (!S_ISREG(mode) && !S_ISDIR(mode))
		return TRUST_LINK;
	if (uid != 0 && uid != looker->user && uid != looker->owner)
		return TRUST_OWNER;
	/* Sticky or not: what is missing there today, anybody may put there. */
	if (mode & S_IWOTH)
		return TRUST_OTHERS;
	if ((mode & S_IWGRP) && gid != looker->groups[0] && gid != looker->groups[1])
		return TRUST_GROUP;
	return TRUST_FINE;
}

/* "FILE ...": why it is not trusted. */
static inline const char *trust_text(enum trust trust)
{
	switch (trust) {
	case TRUST_LINK:
		return "is a link, or no file";
	case TRUST_OWNER:
		return "belongs to another user";
	case TRUST_OTHERS:
		return "is writable by others";
	case TRUST_GROUP:
		return "is writable by its group";
	case TRUST_FINE:
	case TRUST_MAX:
		break;
	}
	return "is safe";
}

/*
 * `relative`, as of the folder of the file `from`, which is a real path: so ".." is what goes
 * before. False: it does not fit.
 */
static inline bool trust_join(const char *from, const char *relative, char *ret, size_t size)
{
	size_t length = (size_t)(strrchr(from, '/') - from);

	if (length >= size)
		return false;
	memcpy(ret, from, length);
	while (*relative) {
		size_t step = strcspn(relative, "/");

		if (step == 2 && strncmp(relative, "..", 2) == 0) {
			while (length && ret[--length] != '/')
				;
		} else if (step && !(step == 1 && *relative == '.')) {
			if (length + 1 + step >= size)
				return false;
			ret[length++] = '/';
			memcpy(ret + length, relative, step);
			length += step;
		}
		relative += step + (relative[step] == '/');
	}
	ret[length] = '\0';
	return true;
}

/*
 * Where the next component to check ends in `path`, the last time at its end; 0: there is no more.
 * `at` is 0, or what was returned before.
 */
static inline size_t trust_next(const char *looker, const char *path, size_t at)
{
	if (!at)
		for (size_t i = 0; path[i] && path[i] == looker[i]; i++)
			if (path[i] == '/')
				at = i;
	if (!path[at])
		return 0;
	return at + 1 + strcspn(path + at + 1, "/");
}

#endif
