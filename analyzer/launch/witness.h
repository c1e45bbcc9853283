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
#include <stdint.h>
#include <sys/types.h>

struct witness {
	pid_t pid;           /* -1: it could not be started */
	const char *command; /* the command's first word, in argv */
	uint64_t seen; /* signals, as bits, of earlier witnesses, which are still to be asked for */
};

/* Starts the witness. In it, signals that are blocked now stay pending. */
void witness_start(struct witness *witness);

/*
 * Returns true if the witness got this signal, too, and then replaces the witness by a new one.
 * Returns false also if the command has left the launcher's process group, as under timeout(1).
 */
bool witness_got(struct witness *witness, pid_t command, int number);

void witness_end(const struct witness *witness);
