/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permit.h - the drain may read this process's memory, for the lines of its code.
 *
 * With Yama's ptrace_scope of 1, which is the default of Ubuntu and counts in containers, too, only
 * a parent may read a process, or whom the process has named by PR_SET_PTRACER. The drain is no
 * parent, so each process names it, by number, as soon as it records. Where the scope is another
 * one, or DLPROF_LINES is off, nothing is set. A program that names somebody else later, as a crash
 * handler does, is right: its last word counts.
 */
#pragma once

/* In the process that has started the drain: names it, and lets children know of it. */
void permit_drain(int drain);

/* In a process that has joined the run of another one. */
void permit_as_told(void);
