/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - makes the folder of a run's segments, and the link that leads to it from the database.
 *
 * The link is made first and removed last, so whatever a kill leaves behind can be found from the
 * database.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Returns 0 if the folder is only this user's; -ENOENT; -EPERM: another user's, or no folder. */
int folder_check(const char *folder);

/* Returns true if DATABASE-segments is free, or our own link to a folder that was removed. */
bool folder_link_is_free(const char *database);

/*
 * Makes the link and then the folder in `base`, and returns the folder's name, which it chooses.
 * *ret_linked: false if links cannot be made. folder_remove() removes both; without a database,
 * only the folder.
 */
int folder_make(const char *base, const char *database, char *folder, size_t size,
		bool *ret_linked);
void folder_remove(const char *folder, const char *database);

/* Makes the folder again if it was removed during its run. -ENOENT: the run is over. */
int folder_restore(const char *folder);
