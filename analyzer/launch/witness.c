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

/* Who signals one process after another may reach the witness so much later than the launcher. */
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

static bool is_pending(pid_t pid, int number)
{
	char path[48], line[128];
	uint64_t pending = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "ShdPnd: %" SCNx64, &pending) == 1)
			break;
	fclose(file);
	return pending >> (number - 1) & 1;
}

bool witness_got(pid_t *witness, int number)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * NS_PER_MS};
	bool got = false;

	for (int ms = 0; *witness > 0 && !got && ms <= LATE_MS; ms += LOOK_MS) {
		if (ms)
			nanosleep(&pause, NULL);
		got = is_pending(*witness, number);
	}
	if (!got)
		return false;
	witness_end(*witness);
	*witness = witness_start();
	return true;
}

void witness_end(pid_t witness)
{
	if (witness <= 0)
		return;
	kill(witness, SIGKILL);
	waitpid(witness, NULL, 0);
}
