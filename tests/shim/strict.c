/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox that kills a program for any system call but those that it is listed to make.
 *
 * usage: strict CALL,CALL,... [NAME=VALUE] PROGRAM ARGUMENT...
 *            runs PROGRAM in the sandbox. CALL: number of an allowed call; NAME: variable to set
 *        strict end|child|signal
 *            enters the sandbox itself, with the calls that it needs to end, and kill(); child: it
 *            records, and a forked child that does not record enters the sandbox
 */
#include <dlprof.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000U
#endif
#define MOST 250

static void allow(const int *calls, int count)
{
	struct sock_filter code[2 * MOST + 2];
	struct sock_fprog program = {.filter = code};
	unsigned short at = 0;

	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						  offsetof(struct seccomp_data, nr));
	for (int i = 0; i < count; i++) {
		code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							  (unsigned)calls[i], 0, 1);
		code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	program.len = at;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		fprintf(stderr, "no filter: %s\n", strerror(errno));
		exit(77);
	}
}

static void become(char *list, char **program)
{
	int calls[MOST], count = 0;

	for (char *at = strtok(list, ","); at && count < MOST; at = strtok(NULL, ","))
		calls[count++] = atoi(at);
	if (strchr(program[0], '='))
		putenv(*program++);
	allow(calls, count);
	execv(program[0], program);
	_exit(127);
}

/* Records, forks a child, and prints how that ended. */
static int fork_child(void)
{
	int status;
	pid_t pid;

	dlprof_batch_begin();
	dlprof_batch_end(0);
	pid = fork();
	if (pid == 0)
		return -1;
	if (waitpid(pid, &status, 0) < 0)
		return 1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int count, char **arguments)
{
	static const int ends[] = {SYS_exit_group, SYS_write, SYS_kill};
	const char *what = count > 1 ? arguments[1] : "";
	const pid_t self = getpid();

	if (count > 2)
		become(arguments[1], arguments + 2);
	if (strcmp(what, "child") == 0) {
		const int status = fork_child();

		if (status >= 0)
			return status;
	}
	signal(SIGTERM, SIG_IGN);
	allow(ends, strcmp(what, "signal") == 0 ? 3 : 2);
	if (strcmp(what, "signal") == 0)
		kill(self, SIGTERM);
	return write(STDOUT_FILENO, "ok\n", 3) == 3 ? 0 : 1;
}
