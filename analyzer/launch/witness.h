/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.h - tells signals to the launcher alone from those to each process of the job.
 *
 * The kernel does not tell them apart: `kill -USR1 -GROUP`, Slurm and systemd signal the command,
 * too, which must not get the same signal again from the launcher. The witness is a child that only
 * counts its signals: what it got, the command got, too. Two signals of one number are counted once
 * if the second comes before the witness was scheduled; then the command may get the second again.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Starts the witness, which counts the signals that are blocked now. `command` is the command's
 * first word, in argv. Returns -1: it failed.
 */
pid_t witness_start(const char *command);

/*
 * Returns true if the witness got this signal, too. Returns false also if the command has left the
 * launcher's process group, as under timeout(1).
 */
bool witness_got(pid_t witness, pid_t command, int number);

void witness_end(pid_t witness);
