/* SPDX-License-Identifier: Apache-2.0 */
/* written.h - lists files opened for writing, which DLPROF_STOP_AFTER may leave incomplete. */
#pragma once

#include "base/config.h"

/* Adds a file to the list. Called only if config.stop_after is set. */
void written_add(const char *path);

/* Writes a note that names the regular files of a megabyte or more in the list. */
void written_note(void);
