/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - decides whether dlprof may run or load another of its own files.
 *
 * The looker is the program or library that looks for the file. A file is trusted if everybody who
 * can write it can also write the looker. Every part of the path below their common folder is
 * checked, and no link is followed. Gap: in a user namespace, all users without a mapping look like
 * one user, 65534.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/* meson writes this file beside built binaries, with the path of the build folder. */
#define TRUST_BUILT "dlprof.built"

enum trust {
	TRUST_FINE,
	TRUST_LINK, /* a link, a device or a pipe */
	TRUST_OWNER,
	TRUST_OTHERS,
	TRUST_GROUP,
	TRUST_MAX
};

/* The program or library that looks for a file. */
struct trust_looker {
	uint32_t user;
	uint32_t owner;
	int64_t groups[2]; /* groups that may write the looker, and its folder; -1: none */
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

static inline enum trust trust_judge(const struct trust_looker *looker, uint32_t uid, uint32_t gid,
				     uint32_t mode)
{
	if (!S_ISREG(mode) && !S_ISDIR(mode))
		return TRUST_LINK;
	if (uid != 0 && uid != looker->user && uid != looker->owner)
		return TRUST_OWNER;
	/* A sticky bit does not help: anybody can still make a file that does not exist yet. */
	if (mode & S_IWOTH)
		return TRUST_OTHERS;
	if ((mode & S_IWGRP) && gid != looker->groups[0] && gid != looker->groups[1])
		return TRUST_GROUP;
	return TRUST_FINE;
}

/* Returns what to print after the file's name. */
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
 * Joins `relative` to the folder of `from`, a real path. ".." removes a component of that folder.
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

/* Returns where the next component to check ends in `path`, or 0. `at`: the last result, or 0. */
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

#define TRUST_PATH_BYTES 1024

/* A search for a file. The includer sets `look` and `read`: the shim may not use libc for them. */
struct trust_search {
	const char *from;                                /* real path of the looker */
	int (*look)(const char *path, struct stat *ret); /* does what lstat() does; < 0: failed */
	int (*read)(const char *path, char *ret, size_t size); /* reads a small file; <= 0: error */
	struct trust_looker looker;
	char path[TRUST_PATH_BYTES]; /* path that was found, or the first one that is not trusted */
	enum trust trust;
	char tried[TRUST_PATH_BYTES];
};

/* Returns true if `relative` exists and all its path below the common folder is trusted. */
static inline bool trust_try(struct trust_search *search, const char *relative)
{
	char *const path = search->tried;
	struct stat status;

	if (!trust_join(search->from, relative, path, TRUST_PATH_BYTES) ||
	    search->look(path, &status) < 0)
		return false;
	for (size_t at = 0; (at = trust_next(search->from, path, at));) {
		const char after = path[at];
		enum trust trust;

		path[at] = '\0';
		if (search->look(path, &status) < 0)
			return false;
		trust = trust_judge(&search->looker, status.st_uid, status.st_gid, status.st_mode);
		if (trust) {
			if (!search->trust)
				strcpy(search->path, path);
			search->trust = search->trust ? search->trust : trust;
			return false;
		}
		path[at] = after;
	}
	return true;
}

/* Tries `name` in `folder`, which is relative to the looker's folder, or "" for that folder. */
static inline bool trust_take(struct trust_search *search, const char *folder, const char *name)
{
	const size_t length = strlen(folder), name_bytes = strlen(name) + 1;
	char relative[TRUST_PATH_BYTES];

	if (length + 1 + name_bytes > sizeof(relative))
		return false;
	memcpy(relative, folder, length);
	relative[length] = '/';
	memcpy(relative + length + 1, name, name_bytes);
	if (!trust_try(search, relative))
		return false;
	strcpy(search->path, search->tried);
	search->trust = TRUST_FINE;
	return true;
}

/*
 * Looks for the file in the build folder (if the looker was not installed), in the looker's folder,
 * and in `installed`, a path relative to the looker's folder (NULL: not looked for there). Returns
 * 0, -ENOENT, -EPERM or -errno.
 */
static inline int trust_find(struct trust_search *search, uint32_t user, const char *name,
			     const char *installed)
{
	struct stat file, folder;
	char built[256];

	search->trust = TRUST_FINE;
	if (!trust_join(search->from, ".", search->tried, TRUST_PATH_BYTES))
		return -ENAMETOOLONG;
	if (search->look(search->from, &file) < 0 ||
	    search->look(*search->tried ? search->tried : "/", &folder) < 0)
		return -ENOENT;
	search->looker = trust_looker(user, &file, &folder);
	if (trust_try(search, TRUST_BUILT) &&
	    search->read(search->tried, built, sizeof(built)) > 0) {
		built[strcspn(built, "\n")] = '\0';
		if (*built && trust_take(search, built, name))
			return 0;
	}
	if (trust_take(search, "", name) || (installed && trust_take(search, installed, name)))
		return 0;
	return search->trust ? -EPERM : -ENOENT;
}
