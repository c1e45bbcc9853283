/* SPDX-License-Identifier: Apache-2.0 */
/* remote.c - a preload by which every folder seems to lie on a remote file system, 9p. */
#include <string.h>
#include <sys/vfs.h>

int statfs(const char *path, struct statfs *status)
{
	(void)path;
	memset(status, 0, sizeof(*status));
	status->f_type = 0x01021997;
	return 0;
}
