/* SPDX-License-Identifier: Apache-2.0 */
#include "record/life.h"

#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/process.h"
#include "base/sys.h"
#include "record/segment.h"

/* Returns false if the header is the parent's, from which a child inherits DLPROF_LIFE. */
static bool is_own(const struct dlprof_header *header)
{
	return header->magic == DLPROF_SEGMENT_MAGIC && header->abi == DLPROF_SEGMENT_ABI &&
	       (header->flags & DLPROF_SEGMENT_ROOT) && header->pid == sys_getpid() &&
	       header->start_ticks && header->start_ticks == process_start_ticks() &&
	       header->pid_space == process_space() &&
	       memchr(header->database, '\0', sizeof(header->database)) &&
	       memchr(header->stored_at, '\0', sizeof(header->stored_at));
}

const struct dlprof_header *life_before(const char *folder)
{
	static struct dlprof_header header;
	const char *path = getenv("DLPROF_LIFE");
	const size_t length = strlen(folder);
	long got;
	int fd;

	if (!path || strncmp(path, folder, length) != 0 || path[length] != '/')
		return NULL;
	fd = sys_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd < 0)
		return NULL;
	got = sys_read(fd, &header, sizeof(header));
	sys_close(fd);
	return got == sizeof(header) && is_own(&header) ? &header : NULL;
}

int life_announce(void)
{
	return environment_set("DLPROF_LIFE=", segment_path());
}
