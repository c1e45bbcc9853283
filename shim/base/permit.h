/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permit.h - lets the drain read this process's memory, for the lines of its code.
 *
 * With Yama's ptrace_scope 1, the default of Ubuntu, also in containers, only a process's parent
 * may read it, or a process that it has named by PR_SET_PTRACER. The drain is no parent, so each
 * process names it, by number, as soon as it records. With another scope, or with DLPROF_LINES off,
 * nothing is set. A program that names another process later, as a crash handler does, replaces
 * ours.
 */
#pragma once

/* Names the drain that this process has started, and lets children know of it. */
void permit_drain(int drain);

/* Names the drain in a process that has joined another one's run. */
void permit_as_told(void);
