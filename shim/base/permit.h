/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permit.h - lets the drain read this process's memory, to sample its lines of code.
 *
 * With Yama's ptrace_scope 1, the default of Ubuntu, also in containers, only a process's parent
 * may read it, or a process that it has named by PR_SET_PTRACER. The drain is no parent, so each
 * process names the drain, by number, as soon as it records. With another scope, or with
 * DLPROF_LINES off, nothing is set. A program that names another process later, as a crash handler
 * does, replaces the drain.
 */
#pragma once

/* Names the drain that this process has started, and tells children its number. */
void permit_drain(int drain);

/* Names the drain of the run that this process has joined. */
void permit_as_told(void);
