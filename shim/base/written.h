/* SPDX-License-Identifier: Apache-2.0 */
/* written.h - lists files opened for writing, which DLPROF_STOP_AFTER may leave incomplete. */
#pragma once

#include "base/config.h"

/* Lists a file. Called only if config.stop_after is set. */
void written_add(const char *path);

/* Notes the listed files: only regular files of a megabyte or more. */
void written_note(void);
