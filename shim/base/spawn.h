/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - start the drain: a grandchild in its own process group, without the host noticing.
 *
 * Not fork(): the host's atfork handlers stay out of it and no page table is copied. Not SIGCHLD
 * either: the host's handlers and wait() calls see nothing of the child in between. Who would adopt
 * the drain gets a guard instead, see guard.h.
 */
#pragma once

#include "base/text.h"

/* Its pid; or -errno and, for the user, why dlprof-drain does not run. */
int spawn_drain(const char *folder, const char *database, struct text *why);
