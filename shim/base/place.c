/* SPDX-License-Identifier: Apache-2.0 */
#include "base/place.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "dlprof/place.h"
#include "base/sys.h"
#include "dlprof/trust.h"

#define DRAIN      "dlprof-drain"
#define PATH_BYTES 640
#define MAPS_BYTES 8192

/* The library, and the first place that it may not use. */
struct place {
	char library[PATH_BYTES];
	struct trust_looker looker;
	struct text *why;
	int problem;
};

static const char *(*find_own_path)(void);

void place_ready(const char *(*own_path)(void))
{
	find_own_path = own_path;
}

/* No link and no dots on the way: beside a link there may be another version's drain. */
static bool is_real(const char *path)
{
	char part[PATH_BYTES], byte;
	size_t length = strlen(path);

	if (strstr(path, "/./") || strstr(path, "/../") || strstr(path, "//"))
		return false;
	memcpy(part, path, length + 1);
	for (size_t at = 1; at <= length; at++) {
		if (path[at] != '/' && path[at])
			continue;
		part[at] = '\0';
		if (sys_readlink(part, &byte, 1) != -EINVAL)
			return false;
		part[at] = path[at];
	}
	return true;
}

/* What is relative is so to a folder that the host may have left. */
static bool given_path(char *ret)
{
	const char *path = find_own_path ? find_own_path() : NULL;

	if (!path || path[0] != '/' || strlen(path) >= PATH_BYTES || !is_real(path))
		return false;
	strcpy(ret, path);
	return true;
}

static uintptr_t hexadecimal(const char **at)
{
	uintptr_t number = 0;

	for (; **at != '-' && **at != ' ' && **at; ++*at)
		number = number * 16 + (uintptr_t)(**at <= '9' ? **at - '0' : **at - 'a' + 10);
	return number;
}

/* "BEGIN-END ... PATH": the path, if the line is that of the mapping that holds `here`. */
static const char *path_around(const char *line, uintptr_t here)
{
	uintptr_t begin = hexadecimal(&line), end;

	line += *line == '-';
	end = hexadecimal(&line);
	return begin <= here && here < end ? strchr(line, '/') : NULL;
}

/* Takes whole lines up to the one wanted; `held` is what is left. -ENOENT: not yet. */
static int take_lines(char *lines, size_t *held, char *ret)
{
	const char *path = NULL;
	char *at = lines, *end;
	int r = -ENOENT;

	for (; !path && (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		path = path_around(at, (uintptr_t)&take_lines);
	}
	if (path)
		r = strlen(path) < PATH_BYTES ? 0 : -ENAMETOOLONG;
	if (r == 0)
		strcpy(ret, path);
	*held -= (size_t)(at - lines);
	memmove(lines, at, *held);
	return r;
}

/* Of the mapping that holds this code; of a training's thousands, nearly the last. */
static int mapped_path(char *ret)
{
	char lines[MAPS_BYTES + 1], *deleted;
	int fd = sys_open("/proc/self/maps", O_RDONLY, 0), r = -ENOENT;
	size_t held = 0;
	long got;

	if (fd < 0)
		return fd;
	while (r == -ENOENT && (got = sys_read(fd, lines + held, MAPS_BYTES - held)) > 0) {
		held += (size_t)got;
		lines[held] = '\0';
		r = take_lines(lines, &held, ret);
	}
	sys_close(fd);
	if (r < 0)
		return r;
	/* A newer version may stand there since. */
	deleted = strstr(ret, " (deleted)");
	if (deleted && !deleted[sizeof(" (deleted)") - 1])
		*deleted = '\0';
	return 0;
}

static int look_at(const char *path, struct stat *ret)
{
	return (int)sys_call4(SYS_newfstatat, AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW);
}

static int find_library(struct place *place)
{
	char *path = place->library, *slash;
	struct stat file, folder;
	int r = given_path(path) ? 0 : mapped_path(path);

	if (r == 0)
		r = look_at(path, &file);
	if (r < 0)
		return r;
	slash = strrchr(path, '/');
	*slash = '\0';
	r = look_at(*path ? path : "/", &folder);
	*slash = '/';
	if (r == 0)
		place->looker = trust_looker((uint32_t)sys_call0(SYS_geteuid), &file, &folder);
	return r;
}

static void refuse(struct place *place, int problem, const char *path, size_t length,
		   const char *reason)
{
	if (place->problem != -ENOENT)
		return;
	place->problem = problem;
	text_add(place->why, "'");
	text_add_bytes(place->why, path, length);
	text_add(place->why, "' ");
	text_add(place->why, reason);
}

/* All that leads to `path` from the folder that it has in common with the library. */
static bool check_way(struct place *place, char *path)
{
	for (size_t at = 0; (at = trust_next(place->library, path, at));) {
		const char after = path[at];
		struct stat status;
		enum trust trust;
		int r;

		path[at] = '\0';
		r = look_at(path, &status);
		path[at] = after;
		if (r < 0)
			return false;
		trust = trust_judge(&place->looker, status.st_uid, status.st_gid, status.st_mode);
		if (trust) {
			refuse(place, -EPERM, path, at, trust_text(trust));
			return false;
		}
	}
	return true;
}

static bool take(struct place *place, const char *relative, struct text *path)
{
	struct stat status;

	if (!trust_join(place->library, relative, path->buffer, path->size) ||
	    look_at(path->buffer, &status) < 0 || !check_way(place, path->buffer))
		return false;
	path->length = strlen(path->buffer);
	if (sys_call3(SYS_faccessat, AT_FDCWD, path->buffer, 1 /* X_OK */) == 0)
		return true;
	refuse(place, -EACCES, path->buffer, path->length, "may not be executed");
	return false;
}

/* The folder of the programs that were built together with the library, if it was not installed. */
static bool read_built(struct place *place, char *ret, size_t size)
{
	char path[PATH_BYTES];
	struct stat status;

	if (!trust_join(place->library, TRUST_BUILT, path, sizeof(path)) ||
	    look_at(path, &status) < 0 || !check_way(place, path) ||
	    text_read_file(path, ret, size - sizeof("/" DRAIN)) <= 0)
		return false;
	strcpy(ret + strcspn(ret, "\n"), "/" DRAIN);
	return true;
}

int place_find_drain(struct text *path, struct text *why)
{
	struct place place = {.why = why, .problem = -ENOENT};
	char built[256];
	int r = find_library(&place);

	if (r == 0) {
		if ((read_built(&place, built, sizeof(built)) && take(&place, built, path)) ||
		    take(&place, DRAIN, path) || take(&place, PLACE_DRAIN_FOLDER "/" DRAIN, path))
			return 0;
	}
	if (place.problem == -ENOENT)
		text_add(why, "it was not found");
	return place.problem;
}
