/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - makes the folder of a run's segments, and the link to it beside the database.
 *
 * The link is made first and removed last, so that the folder can be found after a kill.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Returns 0, -ENOENT, or -EPERM if the folder is another user's or is no folder. */
int folder_check(const char *folder);

/* Returns true if DATABASE-segments is absent, or our own link to a folder that was removed. */
bool folder_link_is_free(const char *database);

/* Chooses a name in `base`, and returns it in `folder`. *ret_linked: the link could be made. */
int folder_make(const char *base, const char *database, char *folder, size_t size,
		bool *ret_linked);
void folder_remove(const char *folder, const char *database);

/* Makes a removed folder again. Returns -ENOENT if the run is over. */
int folder_restore(const char *folder);
