/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permit.h - lets the drain read this process's memory, to sample its lines of Python code.
 *
 * With Yama's ptrace_scope 1, the default of Ubuntu and its containers, only a parent may read a
 * process's memory, or a process that was named by PR_SET_PTRACER. The drain is not the parent, so
 * each process names the drain's pid as soon as it records. With any other scope, or with
 * DLPROF_LINES=off, nothing is done. If the program later names another process, as crash handlers
 * do, that replaces the drain.
 */
#pragma once

/* Allows the drain that this process started, and passes its pid on to child processes. */
void permit_drain(int drain);

/* Allows the drain whose pid was passed on by the process that began the run. */
void permit_as_told(void);
