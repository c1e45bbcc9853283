/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permit.h - lets the drain read this process's memory, to sample its lines of Python code.
 *
 * With Yama's ptrace_scope 1 (Ubuntu's default) a process must name its only reader by
 * PR_SET_PTRACER. A program that names another reader, as crash handlers do, locks the drain out.
 */
#pragma once

/* Allows the drain that this process started, and tells children its pid. */
void permit_drain(int drain);

/* Allows the drain of the process that began the run, which DLPROF_DRAIN names. */
void permit_as_told(void);
