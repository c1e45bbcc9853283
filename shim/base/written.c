/* SPDX-License-Identifier: Apache-2.0 */
#include "base/written.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/note.h"
#include "base/sys.h"
#include "base/text.h"
#include "dlprof/folder.h"
#include "dlprof/written.h"

#define PATH_MOST  256
#define FILE_MOST  64
#define LARGE	   (1 << 20)

static struct list {
	char paths[FILE_MOST][PATH_MOST];
	_Atomic uint32_t count;
} written, resumed;

bool written_is_watched;
static uint64_t earlier_from_ms, earlier_to_ms; /* 0: no earlier run */

static void add(struct list *list, const char *path)
{
	uint32_t count = list->count, at;

	if (strlen(path) >= PATH_MOST)
		return;
	for (uint32_t i = 0; i < count && i < FILE_MOST; i++)
		if (strcmp(list->paths[i], path) == 0)
			return;
	at = atomic_fetch_add(&list->count, 1);
	if (at < FILE_MOST)
		memcpy(list->paths[at], path, strlen(path) + 1);
}

void written_begin(void)
{
	const char *value = getenv("DLPROF_EARLIER");

	written_is_watched = getenv("DLPROF_STOP_AFTER");
	if (value && !(dlprof_take_number(&value, &earlier_from_ms) &&
		       dlprof_take_next(&value, &earlier_to_ms) && !*value))
		earlier_to_ms = 0;
}

static void look_for_resumed(int fd, const char *path)
{
	struct stat status;
	uint64_t ms;

	if (sys_call4(SYS_newfstatat, fd, (long)"", (long)&status, AT_EMPTY_PATH) < 0 ||
	    !S_ISREG(status.st_mode))
		return;
	ms = (uint64_t)status.st_mtim.tv_sec * 1000 + (uint64_t)status.st_mtim.tv_nsec / 1000000;
	if (ms >= earlier_from_ms && ms < earlier_to_ms)
		add(&resumed, path);
}

/* Returns true for names like "ck.pt" and "ck.pt.part", or "kept/1.pt" and "kept/2.pt". */
static bool is_like(const char *path, const char *other)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	const char *other_slash = strrchr(other, '/'), *other_dot = strrchr(other, '.');
	size_t folder = slash ? (size_t)(slash - path) : 0;

	if (strncmp(other, path, strlen(path)) == 0)
		return !other_dot || strcmp(other_dot, ".lock") != 0;
	return dot && other_dot && strcmp(dot, other_dot) == 0 &&
	       folder == (other_slash ? (size_t)(other_slash - other) : 0) &&
	       memcmp(path, other, folder) == 0;
}

/* Notes files that were read and are now written, but no caches of data, which are only read. */
static void note_resumed(const char *wrote)
{
	for (uint32_t i = 0; i < resumed.count && i < FILE_MOST; i++) {
		char *path = resumed.paths[i];

		if (!*path || !is_like(path, wrote))
			continue;
		note_format('w', DLPROF_RESUMED "%s", path);
		*path = '\0';
	}
}

void written_opened(int fd, const char *path, int flags)
{
	if ((flags & O_ACCMODE) == O_RDONLY) {
		if (earlier_to_ms)
			look_for_resumed(fd, path);
	} else if (config.stop_after) {
		add(&written, path);
		note_resumed(path);
	}
}

void written_note(void)
{
	uint32_t count = written.count;
	TEXT(line, 480);

	for (uint32_t i = 0; i < count && i < FILE_MOST; i++) {
		const char *path = written.paths[i];
		struct stat status;

		if (!*path || sys_call4(SYS_newfstatat, AT_FDCWD, path, &status, 0) < 0 ||
		    !S_ISREG(status.st_mode) || status.st_size < LARGE)
			continue;
		text_format(&line, "%s%s (%ld MB)", line.length ? ", " : DLPROF_WROTE, path,
			    (long)status.st_size / LARGE);
	}
	if (line.length)
		note_add('w', line.buffer);
}
