/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - where a run's segments lie, and the link that leads there from its database.
 *
 * The link comes first and goes last: whatever a kill leaves behind can be found from the database.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* 0: it is there, and this user's alone; -ENOENT; -EPERM: it is somebody else's, or no folder. */
int folder_check(const char *folder);

/* Whether DATABASE-segments can be made: nothing is there but a link of ours to what is gone. */
bool folder_link_is_free(const char *database);

/*
 * Makes the link and then the folder, whose name it chooses, in `base`. *ret_linked: false where
 * links cannot be made. folder_remove() undoes both, or without a database the folder alone.
 */
int folder_make(const char *base, const char *database, char *folder, size_t size,
		bool *ret_linked);
void folder_remove(const char *folder, const char *database);

/* Makes it again where somebody removed it while its run goes on. -ENOENT: the run is over. */
int folder_restore(const char *folder);
