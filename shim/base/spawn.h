/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - starts the drain as a grandchild in its own process group, unnoticed by the host.
 *
 * This takes no fork(), which runs the host's atfork handlers, and raises no SIGCHLD.
 */
#pragma once

#include "base/text.h"

/* Starts the drain. Returns its pid, or -errno and a text for the user in `why`. */
int spawn_drain(const char *folder, const char *database, struct text *why);
