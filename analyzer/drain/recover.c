/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>

#include "drain/drain.h"
#include "drain/folder.h"

#define WAIT_MS 5000	/* for a drain that is finishing */

bool drain_is_live(const char *database)
{
	char path[4096];

	return folder_find(database, path, sizeof(path)) && folder_is_recorded_into(path);
}

int drain_recover(const char *database, bool *ret_live)
{
	struct folder folder;
	char path[4096];
	int r;

	*ret_live = false;
	if (!folder_find(database, path, sizeof(path)))
		return 0;
	for (int waited_ms = 0;; waited_ms += 50) {
		r = folder_lock(&folder, path);
		if (r == -ENOENT)
			return 0;	/* done, or on another machine */
		if (r == 0)
			return drain_take_over(&folder, database, ret_live);
		if (r != -EWOULDBLOCK)
			return r;
		*ret_live = folder_is_recorded_into(path);
		if (*ret_live || waited_ms >= WAIT_MS)
			return 0;
		poll(NULL, 0, 50);
	}
}
