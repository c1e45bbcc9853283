/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/modules/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "dlprof/hash.h"
#include "dlprof/units.h"
#include "drain/base/process.h"

/* longer than any line: a path is shorter than a page; /proc may write 4 characters for a byte */
#define BUFFER_BYTES ((size_t)1 << 16)

/* Parses "7f12c000-7f12d000 r-xp 00001000 fd:00 1234 /usr/lib/libc.so.6"; false: maps no file. */
static bool parse(char *text, struct maps_line *ret)
{
	ret->begin = strtoull(text, &text, 16);
	text += *text == '-';
	ret->end = strtoull(text, &text, 16);
	if (*text != ' ' || strnlen(text, 6) < 6)
		return false;
	ret->is_code = text[2] == '-' && text[3] == 'x';
	text += 6;
	ret->offset = strtoull(text, &text, 16);
	ret->device = strtoull(text, &text, 16) << 32;
	text += *text == ':';
	ret->device |= strtoull(text, &text, 16);
	ret->inode = strtoull(text, &text, 10);
	ret->path = text + strspn(text, " ");
	return ret->path[0] == '/';
}

/* Calls `take` for each whole line. *ret_used: bytes in these lines. */
static int take_lines(char *bytes, size_t size, size_t *ret_used,
		      int (*take)(void *context, const struct maps_line *line), void *context)
{
	char *at = bytes, *end;
	struct maps_line line;
	int r = 0;

	while (r == 0 && (end = memchr(at, '\n', size - (size_t)(at - bytes)))) {
		*end = '\0';
		if (parse(at, &line))
			r = take(context, &line);
		at = end + 1;
	}
	*ret_used = (size_t)(at - bytes);
	return r;
}

int maps_each(int32_t pid, int (*take)(void *context, const struct maps_line *line), void *context)
{
	char path[40], *bytes;
	size_t have = 0, used;
	ssize_t got;
	int fd, r = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	bytes = malloc(BUFFER_BYTES);
	if (!bytes)
		r = -ENOMEM;
	while (r == 0) {
		got = read(fd, bytes + have, BUFFER_BYTES - have);
		if (got <= 0) {
			r = got < 0 ? -errno : 0;
			break;
		}
		have += (size_t)got;
		r = take_lines(bytes, have, &used, take, context);
		have -= used;
		memmove(bytes, bytes + used, have);
		if (have == BUFFER_BYTES) /* no line is this long, so the file is malformed */
			have = 0;
	}
	free(bytes);
	close(fd);
	return r;
}

uint64_t maps_device(dev_t device)
{
	return (uint64_t)major(device) << 32 | minor(device);
}

/* Returns true for the mapped file. On overlay and btrfs (major 0) the devices may differ. */
static bool is_mapped(const struct stat *status, uint64_t device, uint64_t inode)
{
	return S_ISREG(status->st_mode) && status->st_ino == inode &&
	       (maps_device(status->st_dev) == device || !major(status->st_dev) || !(device >> 32));
}

int maps_open(const char *path, uint64_t device, uint64_t inode)
{
	struct stat status;
	int fd;

	if (stat(path, &status) < 0)
		return -errno;
	if (!is_mapped(&status, device, inode))
		return -ENOENT;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && is_mapped(&status, device, inode))
		return fd;
	close(fd);
	return -ENOENT;
}

uint64_t maps_state(int32_t pid)
{
	static const char *const names[] = {"\nVmExe:", "\nVmLib:"};
	char text[4096];
	uint64_t state = 0;

	process_file_read(pid, "status", text, sizeof(text));
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		const char *at = strstr(text, names[i]);

		if (!at)
			return 0;
		state += strtoull(at + strlen(names[i]), NULL, 10);
	}
	return state;
}

/* Hashes the auxiliary vector: each start of a program puts other random addresses into it. */
uint64_t maps_image(int32_t pid)
{
	const uint64_t state = maps_state(pid);
	uint64_t words[65], image = state;
	const size_t length = process_file_read(pid, "auxv", (char *)words, sizeof(words));

	for (size_t i = 0; i < length / sizeof(words[0]); i++)
		image = hash_word(image, words[i]);
	return length && state ? image : 0;
}
