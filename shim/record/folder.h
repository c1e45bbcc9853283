/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - makes the folder of a run's segments, and the link to it beside the database.
 *
 * The link is made first and removed last, so that the folder of a killed run can be found.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Checks a run's folder. Returns 0, -ENOENT, or -EPERM if it is another user's or no folder. */
int folder_check(const char *folder);

/* Returns true if DATABASE-segments is absent, or is our user's link to a folder that is gone. */
bool folder_link_is_free(const char *database);

/* Makes a folder in `base`, and returns its path in `folder`. *ret_linked: its link was made. */
int folder_make(const char *base, const char *database, char *folder, size_t size,
		bool *ret_linked);
void folder_remove(const char *folder, const char *database);

/* Makes a folder again that was removed, as by a cleaner of /tmp. -ENOENT: the run is over. */
int folder_restore(const char *folder);
