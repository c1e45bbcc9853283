/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.c - `dlprof run CMD...`: sets the environment, runs the command, prints its report. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "launch/cmd.h"
#include "launch/runs.h"
#include "launch/witness.h"
#include "render/form/page.h"

extern char **environ;

static int set_options(const struct launch_options *options)
{
	char slow_us[24], stop_after[24];
	const struct {
		const char *name, *value;
	} settings[] = {
		{"DLPROF_OUT", options->output},
		{"DLPROF_DETAIL", options->detail},
		{"DLPROF_BATCH_FN", options->batch_fn},
		{"DLPROF_CUDA", options->cuda},
		{"DLPROF_SEGMENT_DIR", options->segment_dir},
		{"DLPROF_LOG", options->log},
		{"DLPROF_SLOW_US", options->slow_us < 0 ? NULL : slow_us},
		{"DLPROF_STOP_AFTER", options->stop_after < 0 ? NULL : stop_after},
		{"DLPROF_SET", *options->set ? options->set : NULL},
		{"DLPROF_ACTIVATE", options->always ? "always" : NULL},
		{"DLPROF_QUIET", options->quiet ? "1" : NULL},
	};

	snprintf(slow_us, sizeof(slow_us), "%lld", (long long)options->slow_us);
	snprintf(stop_after, sizeof(stop_after), "%lld", (long long)options->stop_after);
	for (size_t i = 0; i < ARRAY_COUNT(settings); i++)
		if (settings[i].value && setenv(settings[i].name, settings[i].value, 1) < 0)
			return -errno;
	return 0;
}

/* Checks the output's folder before the command starts: libdlprof.so would report it much later. */
static int check_output(const char *path)
{
	char folder[PATH_MAX];
	int r = launch_output_folder(path, folder, sizeof(folder));

	return r < 0 ? launch_fail("cannot write '%s': '%s': %s; name another with -o", path,
				   folder, strerror(-r))
		     : 0;
}

static bool is_ours(const char *entry)
{
	return strncmp(entry, "DLPROF_", 7) == 0 || strncmp(entry, "LD_PRELOAD=", 11) == 0 ||
	       strncmp(entry, "CUDA_INJECTION64_PATH=", 22) == 0;
}

static int print_command(char **command)
{
	fputs("env", stdout);
	for (char **entry = environ; *entry; entry++) {
		if (!is_ours(*entry))
			continue;
		fputs(" \\\n  ", stdout);
		page_put_word(stdout, *entry);
	}
	fputs(" \\\n ", stdout);
	for (; *command; command++) {
		putchar(' ');
		page_put_word(stdout, *command);
	}
	putchar('\n');
	return launch_close(LAUNCH_DONE);
}

/* Signals to pass on to the command. The shell itself sends the command SIGTSTP and SIGCONT. */
static const int passed[] = {SIGHUP,  SIGINT,  SIGQUIT,  SIGTERM, SIGUSR1,
			     SIGUSR2, SIGALRM, SIGWINCH, SIGPIPE, SIGXCPU};

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

/* Waits for a byte of the launcher, then becomes the command. Sends errno if that is impossible. */
static void become(char **command, const struct before *before, pid_t parent, int launcher)
{
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || read(launcher, &error, 1) != 1)
		_exit(1);
	signal(SIGCHLD, before->child);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
	execvp(command[0], command);
	error = errno;
	if (write(launcher, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/*
 * Returns true if the command has ended, or if that cannot be known. The command stays a zombie
 * until its run is stored: before Linux 6.15 the drain can read an exit status only from a zombie.
 * Other children are reaped, because a launcher that is process 1 of a container inherits orphans.
 */
static bool reap(pid_t pid)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    info.si_pid == pid)
			return true;
		if (!info.si_pid)
			return false;
		waitpid(info.si_pid, NULL, 0);
	}
}

static void wait_for(pid_t pid, pid_t witness)
{
	const struct timespec none = {0};
	siginfo_t info;
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	while (!reap(pid)) {
		if (sigwaitinfo(&set, &info) < 0 || info.si_signo == SIGCHLD)
			continue;
		/* Pass on no signal that was sent to all processes: the command has it already. */
		if (!witness_got(witness, pid, info.si_signo) && info.si_code != SI_KERNEL)
			kill(pid, info.si_signo);
	}
	/* Drops pending signals, which were meant for the command and would end the launcher. */
	while (sigtimedwait(&set, NULL, &none) > 0)
		continue;
}

/*
 * Runs the command, and waits until it has ended. The command is in the launcher's process group,
 * and so gets the terminal's signals. Returns the command's pid, for waitpid(), or -errno.
 */
static pid_t attend(char **command)
{
	const pid_t self = getpid();
	struct before before;
	int ends[2], error;
	pid_t pid, witness;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	block(&before.mask);
	/* Whoever started dlprof may have ignored SIGCHLD: then no exit status would come. */
	before.child = signal(SIGCHLD, SIG_DFL);
	pid = fork();
	if (!pid)
		become(command, &before, self, ends[1]);
	error = pid < 0 ? errno : 0;
	close(ends[1]);
	/* The command starts after the witness, so that both get the same signals. */
	witness = witness_start(command[0]);
	send(ends[0], "", 1, MSG_NOSIGNAL);
	if (pid > 0 && read(ends[0], &error, sizeof(error)) == sizeof(error))
		waitpid(pid, NULL, 0);
	close(ends[0]);
	if (!error)
		wait_for(pid, witness);
	witness_end(witness);
	sigprocmask(SIG_SETMASK, &before.mask, NULL);
	return error ? -error : pid;
}

static _Noreturn void end_as(int status)
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	sigset_t set;

	if (!number)
		exit(WEXITSTATUS(status));
	/* The launcher leaves no core file, since the command left one. */
	prctl(PR_SET_DUMPABLE, 0);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	exit(128 + number);
}

/* Returns false for all ranks but the first. If each has a launcher, only one prints a report. */
static bool is_first_rank(void)
{
	static const char *const names[] = {
#define RANK(name) #name,
#include "dlprof/job.def"
	};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcmp(value, "0") == 0;
	}
	return true;
}

static int run_and_report(const struct launch_options *options)
{
	struct runs runs;
	int status;
	pid_t pid;

	if (runs_begin(&runs) < 0) {
		execvp(options->command[0], options->command);
		return launch_fail_run(options, errno);
	}
	pid = attend(options->command);
	if (pid < 0) {
		runs_drop(&runs);
		return launch_fail_run(options, -pid);
	}
	runs_report(&runs);
	if (waitpid(pid, &status, 0) < 0)
		return launch_fail_run(options, errno);
	end_as(status);
}

int cmd_run(const struct launch_options *options)
{
	const char *quiet = getenv("DLPROF_QUIET");
	enum target_problem problem;
	struct preload preload;
	struct target target;
	int r;

	r = launch_find_library(options, &preload);
	if (!r && options->output)
		r = check_output(options->output);
	if (r)
		return r;
	r = target_find(options->command[0], &target);
	if (r == -ENOENT)
		return launch_fail_run(options, ENOENT);
	problem = r < 0 ? TARGET_FINE : target_problem(&target, &preload.image);
	if (problem)
		launch_remark(options, "nothing will be recorded: '%s' %s; %s", target.path,
			      target_words[problem].text, target_words[problem].fix);
	r = set_options(options);
	if (r == 0)
		r = preload_set(&preload, &target);
	if (r < 0)
		return launch_fail("cannot set the environment: %s", strerror(-r));
	if (options->dry_run)
		return print_command(options->command);
	if (!options->exec && !options->quiet && !(quiet && strcmp(quiet, "1") == 0) &&
	    is_first_rank())
		return run_and_report(options);
	execvp(options->command[0], options->command);
	return launch_fail_run(options, errno);
}
