/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - starts the drain: a grandchild in its own process group, which the host does not
 * notice.
 *
 * fork() is not used, so that the host's atfork handlers do not run and no page table is copied.
 * The child sends no SIGCHLD, so the host's handlers and wait() calls do not notice it. A host that
 * would adopt the drain gets a guard instead, see guard.h.
 */
#pragma once

#include "base/text.h"

/* Starts the drain. Returns its pid, or -errno and a text for the user in `why`. */
int spawn_drain(const char *folder, const char *database, struct text *why);
