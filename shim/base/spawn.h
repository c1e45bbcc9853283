/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - starts the drain: a grandchild in its own process group, which the host does not
 * notice.
 *
 * No fork(), which runs the host's atfork handlers, and no SIGCHLD.
 */
#pragma once

#include "base/text.h"

/* Returns the pid, or -errno and a text for the user in `why`. */
int spawn_drain(const char *folder, const char *database, struct text *why);
