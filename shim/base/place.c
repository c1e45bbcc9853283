/* SPDX-License-Identifier: Apache-2.0 */
#include "base/place.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/environment.h"
#include "base/sys.h"
#include "dlprof/place.h"
#include "dlprof/trust.h"

/* Follows links, as a link's folder may hold another version's drain. */
static bool find_library(char *ret, size_t size)
{
	const char *own = environment_own_path();
	int fd = own ? sys_open(own, O_PATH, 0) : -1, length;
	TEXT(link, 48);

	if (!own || strlen(own) >= size)
		return false;
	strcpy(ret, own);
	if (fd < 0)
		return true;
	text_add(&link, "/proc/thread-self/fd/");
	text_add_number(&link, fd);
	length = sys_readlink(link.buffer, ret, size - 1);
	if (length > 0)
		ret[length] = '\0';
	sys_close(fd);
	return true;
}

static int look_at(const char *path, struct stat *ret)
{
	return (int)sys_call4(SYS_newfstatat, AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW);
}

int place_find_drain(struct text *path, struct text *why)
{
	char library[TRUST_PATH_BYTES];
	struct trust_search search = {.from = library, .look = look_at, .read = text_read_file};
	int r = -ENOENT;

	if (find_library(library, sizeof(library)))
		r = trust_find(&search, (uint32_t)sys_call0(SYS_geteuid), "dlprof-drain",
			       PLACE_DRAIN_FOLDER);
	if (r == 0 && sys_call3(SYS_faccessat, AT_FDCWD, search.path, 1 /* X_OK */) < 0)
		r = -EACCES;
	if (r == 0)
		text_add(path, search.path);
	else if (r == -EPERM || r == -EACCES)
		text_join(why, "'", search.path, "' ",
			  r == -EPERM ? trust_text(search.trust) : "may not be executed");
	else
		text_add(why, "it was not found");
	return r;
}
