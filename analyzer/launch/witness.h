/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.h - tells signals to the launcher alone from those to each process of the job.
 *
 * The kernel does not tell them apart: `kill -USR1 -GROUP`, Slurm and systemd signal the command,
 * too, which must not get the same signal again from the launcher. The witness is a child that does
 * nothing, so its signals stay pending. If a signal is pending there, the command got it, too.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Starts the witness. In it, signals that are blocked now stay pending. Returns -1: it failed. */
pid_t witness_start(void);

/*
 * Returns true if the witness got this signal, too, and then replaces the witness by a new one.
 * Returns false also if the command has left the launcher's process group, as under timeout(1).
 */
bool witness_got(pid_t *witness, pid_t command, int number);

void witness_end(pid_t witness);
