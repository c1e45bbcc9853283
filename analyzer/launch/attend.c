/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/attend.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlprof/units.h"

/* Sent to stop, end or ask a training; SIGTSTP and SIGCONT are the shell's to both of us. */
static const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
			     SIGWINCH, SIGPIPE, SIGXCPU};

/* What the command inherits. */
struct before {
	sigset_t mask;
	void (*child)(int number);
};

static void block(sigset_t *ret_before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < ARRAY_COUNT(passed); i++)
		sigaddset(&set, passed[i]);
	sigprocmask(SIG_BLOCK, &set, ret_before);
}

/* If the launcher is killed, the command dies with it, as if it had become the command. */
static void become(char **command, const struct before *before, pid_t parent, int problem)
{
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGCHLD, before->child);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
	execvp(command[0], command);
	error = errno;
	if (write(problem, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* As process 1 of a container we also inherit other processes' children. */
static int reap(pid_t pid, int *ret_status)
{
	pid_t ended;
	int status;

	while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
		if (ended == pid) {
			*ret_status = status;
			return 1;
		}
	return ended < 0 && errno == ECHILD ? -ECHILD : 0;
}

/* Signals that were meant for the command must not reach us after its end. */
static void forget_signals(const sigset_t *set)
{
	const struct timespec none = {0};

	while (sigtimedwait(set, NULL, &none) > 0)
		;
}

static int wait_for(pid_t pid, int *ret_status)
{
	siginfo_t info;
	sigset_t set;
	int r;

	sigprocmask(SIG_BLOCK, NULL, &set);
	for (;;) {
		r = reap(pid, ret_status);
		if (r) {
			forget_signals(&set);
			return r < 0 ? r : 0;
		}
		if (sigwaitinfo(&set, &info) < 0 || info.si_signo == SIGCHLD)
			continue;
		/* The terminal sends its signals to the whole process group anyway. */
		if (info.si_code != SI_KERNEL)
			kill(pid, info.si_signo);
	}
}

int attend(char **command, int *ret_status)
{
	const pid_t self = getpid();
	struct before before;
	int ends[2], error, r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	block(&before.mask);
	/* If it stayed ignored, as some launchers leave it, we would get no exit status. */
	before.child = signal(SIGCHLD, SIG_DFL);
	pid = fork();
	if (!pid)
		become(command, &before, self, ends[1]);
	error = pid < 0 ? errno : 0;
	close(ends[1]);
	if (pid > 0 && read(ends[0], &error, sizeof(error)) == sizeof(error))
		waitpid(pid, NULL, 0);
	close(ends[0]);
	r = error ? -error : wait_for(pid, ret_status);
	sigprocmask(SIG_SETMASK, &before.mask, NULL);
	return r;
}

_Noreturn void attend_end(int status)
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	sigset_t set;

	if (!number)
		exit(WEXITSTATUS(status));
	/* One core file is enough. */
	prctl(PR_SET_DUMPABLE, 0);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	exit(128 + number);
}
