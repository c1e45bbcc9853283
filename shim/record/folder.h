/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - where a run's segments lie, and the link that leads there from its database.
 *
 * The link is made first and removed last, so that whatever a kill leaves behind can be found from
 * the database.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* 0: the folder is there, and this user's alone; -ENOENT; -EPERM: another user's, or no folder. */
int folder_check(const char *folder);

/* Whether DATABASE-segments can be made: nothing is there but our link to a folder that is gone. */
bool folder_link_is_free(const char *database);

/*
 * Makes the link and then the folder, whose name it chooses, in `base`. *ret_linked: false where
 * links cannot be made. folder_remove() undoes both; without a database, the folder alone.
 */
int folder_make(const char *base, const char *database, char *folder, size_t size,
		bool *ret_linked);
void folder_remove(const char *folder, const char *database);

/* Makes the folder again if somebody removed it while its run goes on. -ENOENT: the run is over. */
int folder_restore(const char *folder);
