/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - starts the drain as a grandchild in its own process group, unnoticed by the host.
 *
 * It uses no fork(), which would run the host's atfork handlers, and raises no SIGCHLD.
 */
#pragma once

#include "base/text.h"

/* Starts the drain. Returns its pid, or -errno and a text for the user in `why`. */
int spawn_drain(const char *folder, const char *database, struct text *why);

/*
 * Allows the drain that this process started to read this process's memory, to sample its lines of
 * Python code, and tells children the drain's pid. With Yama's ptrace_scope 1 (Ubuntu's default) a
 * process must name its only reader by PR_SET_PTRACER. A program that names another reader, as
 * crash handlers do, locks the drain out.
 */
void permit_drain(int drain);

/* Allows the drain that DLPROF_DRAIN names, and an ancestor started, to read this process. */
void permit_as_told(void);
