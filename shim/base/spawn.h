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

/*
 * Allows the drain that this process started to read its memory, to sample its lines of Python
 * code, and tells children its pid. With Yama's ptrace_scope 1 (Ubuntu's default) a process must
 * name its only reader by PR_SET_PTRACER. A program that names another reader, as crash handlers
 * do, locks the drain out.
 */
void permit_drain(int drain);

/* Allows the same to the drain that DLPROF_DRAIN names, of the process that began the run. */
void permit_as_told(void);
