/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/witness.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drain/base/process.h"

/* A signal to one process after another may reach the witness this much later than the launcher. */
#define LATE_MS 100
#define LOOK_MS 5
/* A signal that the witness got this long ago is not the one that the launcher gets now. */
#define STALE_S 1

/* For each signal, how often the witness got it, and when it last did. Shared with the witness. */
static struct got {
	_Atomic uint64_t count;
	_Atomic time_t last;
} *got;

#define NAME "witness"

/*
 * Renames the witness, but keeps the command's words. So pkill(1) finds the witness neither by the
 * launcher's name nor by the command's, but by any word that both command lines have.
 */
static void take_name(const char *command)
{
	char *first = program_invocation_name;

	prctl(PR_SET_NAME, NAME);
	strncpy(first, NAME, (size_t)(command - first));
}

pid_t witness_start(const char *command)
{
	const pid_t parent = getpid();
	sigset_t set;
	pid_t pid;

	got = mmap(NULL, NSIG * sizeof(*got), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		   -1, 0);
	pid = got == MAP_FAILED ? -1 : fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	take_name(command);
	/* Close the command's output: its readers wait until no process has it open. */
	process_close_from(0);
	sigprocmask(SIG_BLOCK, NULL, &set);
	while (getppid() == parent) {
		int number = sigwaitinfo(&set, NULL);

		if (number <= 0)
			continue;
		got[number].last = time(NULL);
		got[number].count++;
	}
	_exit(0);
}

bool witness_got(pid_t witness, pid_t command, int number)
{
	static uint64_t known[NSIG]; /* how many of the signals in got[].count the launcher got */
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000}, none = {0};
	sigset_t set;

	if (witness <= 0 || getpgid(command) != getpgrp())
		return false;
	/* The launcher got two signals as one, if it had not taken the first yet. */
	if (time(NULL) > got[number].last + STALE_S)
		known[number] = got[number].count;
	for (int ms = 0; known[number] == got[number].count && ms < LATE_MS; ms += LOOK_MS)
		nanosleep(&pause, NULL);
	if (known[number] == got[number].count)
		return false;
	/* timeout(1) signals the launcher, then the group: so the command gets this signal, too. */
	sigemptyset(&set);
	sigaddset(&set, number);
	if (sigtimedwait(&set, NULL, &none) > 0)
		known[number] = got[number].count;
	else
		known[number]++;
	return true;
}

void witness_end(pid_t witness)
{
	/* If the witness was killed, the launcher reaped it: its pid may be another process's. */
	if (witness <= 0 || waitpid(witness, NULL, WNOHANG) != 0)
		return;
	kill(witness, SIGKILL);
	waitpid(witness, NULL, 0);
}
