/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - starts the drain: a grandchild in its own process group, unnoticed by the host.
 *
 * Not by fork(), so that the host's atfork handlers do not run, and no page table is copied. Nor
 * with SIGCHLD: the host's handlers and wait() calls do not notice the child in between. A host
 * that would adopt the drain gets a guard instead, see guard.h.
 */
#pragma once

#include "base/text.h"

/* Starts the drain. Returns its pid; or -errno and, for the user, why it does not run. */
int spawn_drain(const char *folder, const char *database, struct text *why);
