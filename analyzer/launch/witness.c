/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/witness.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

#define NAME "witness"

/*
 * Renames the witness, but keeps the command's words. So pkill(1) chooses it by no name of the
 * launcher or of the command alone, but by what both have in their command lines.
 */
static void take_name(const char *command)
{
	char *first = program_invocation_name;

	prctl(PR_SET_NAME, NAME);
	strncpy(first, NAME, (size_t)(command - first));
}

void witness_start(struct witness *witness)
{
	const pid_t parent = getpid();

	witness->pid = fork();
	if (witness->pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	take_name(witness->command);
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

bool witness_got(struct witness *witness, pid_t command, int number)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * NS_PER_MS}, none = {0};
	const uint64_t bit = UINT64_C(1) << (number - 1);
	sigset_t set;

	if (witness->pid <= 0 || getpgid(command) != getpgrp())
		return false;
	for (int ms = 0; !(witness->seen & bit) && ms <= LATE_MS; ms += LOOK_MS) {
		if (ms)
			nanosleep(&pause, NULL);
		witness->seen |= pending(witness->pid);
	}
	if (!(witness->seen & bit))
		return false;
	witness->seen &= ~bit;
	witness_end(witness);
	witness_start(witness);
	/* timeout(1) signals the launcher first, then all: the command has got this one, too. */
	sigemptyset(&set);
	sigaddset(&set, number);
	sigtimedwait(&set, NULL, &none);
	return true;
}

void witness_end(const struct witness *witness)
{
	/* A witness that somebody killed was reaped by the launcher: its pid may be another's. */
	if (witness->pid <= 0 || waitpid(witness->pid, NULL, WNOHANG) != 0)
		return;
	kill(witness->pid, SIGKILL);
	waitpid(witness->pid, NULL, 0);
}
