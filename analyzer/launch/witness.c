/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/witness.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* A signal to one process after another may reach the witness this much later than the launcher. */
#define LATE_MS 100
#define LOOK_MS 5
#define NS_PER_MS 1000000

pid_t witness_start(void)
{
	const pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "dlprof-witness");
	/* Readers of the command's output wait until nobody has the other end open. */
	syscall(SYS_close_range, 0, ~0U, 0);
	while (getppid() == parent)
		pause();
	_exit(0);
}

/* Returns the signals that the witness got, as bits; 0 if that cannot be known. */
static uint64_t pending(pid_t witness)
{
	char path[48], line[128];
	uint64_t bits = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)witness);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "ShdPnd: %" SCNx64, &bits) == 1)
			break;
	fclose(file);
	return bits;
}

bool witness_got(pid_t *witness, pid_t command, int number)
{
	/* Signals that a witness got before it was replaced, and that are still to be asked for. */
	static uint64_t seen;
	const struct timespec pause = {.tv_nsec = LOOK_MS * NS_PER_MS};
	const uint64_t bit = UINT64_C(1) << (number - 1);

	if (*witness <= 0 || getpgid(command) != getpgrp())
		return false;
	for (int ms = 0; !(seen & bit) && ms <= LATE_MS; ms += LOOK_MS) {
		if (ms)
			nanosleep(&pause, NULL);
		seen |= pending(*witness);
	}
	if (!(seen & bit))
		return false;
	seen &= ~bit;
	witness_end(*witness);
	*witness = witness_start();
	return true;
}

void witness_end(pid_t witness)
{
	/* A witness that somebody killed was reaped by the launcher: its pid may be another's. */
	if (witness <= 0 || waitpid(witness, NULL, WNOHANG) != 0)
		return;
	kill(witness, SIGKILL);
	waitpid(witness, NULL, 0);
}
