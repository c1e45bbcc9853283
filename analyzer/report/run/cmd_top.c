/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_top.c - `dlprof-report top RUN`: shows a live run's screen until q is typed. The database is
 * open only during a read, since the drain must be able to make one plain file of it at the end.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "report/run/judge.h"

#define REST  10 /* a pause is 10 times as long as drawing took: the training needs the CPU */
#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"
#define CLEAR "\033[H\033[J"

struct screen {
	FILE *out;
	int signals;
	bool has_keys;
	struct termios before;
	sigset_t mask_before;
};

static void enter(struct screen *screen)
{
	struct termios keys;

	/* A program in the background would be stopped if it changed the terminal's modes. */
	screen->has_keys = tcgetpgrp(STDIN_FILENO) == getpgrp() &&
			   tcgetattr(STDIN_FILENO, &screen->before) == 0;
	keys = screen->before;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 0;
	keys.c_cc[VTIME] = 0;
	if (screen->has_keys)
		screen->has_keys = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
	fputs(ENTER, screen->out);
}

static void leave(struct screen *screen)
{
	fputs(LEAVE, screen->out);
	fflush(screen->out);
	if (screen->has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &screen->before);
}

/* Takes over the terminal. Returns false if `out` is nothing that can be drawn on. */
static bool take(FILE *out, struct screen *ret)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH};
	const char *term = getenv("TERM");
	sigset_t mask;

	if (!isatty(fileno(out)) || !term || strcmp(term, "dumb") == 0)
		return false;
	*ret = (struct screen){.out = out};
	sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_COUNT(signals); i++)
		sigaddset(&mask, signals[i]);
	ret->signals = signalfd(-1, &mask, SFD_CLOEXEC);
	if (ret->signals < 0)
		return false;
	sigprocmask(SIG_BLOCK, &mask, &ret->mask_before);
	enter(ret);
	return true;
}

static void give_back(struct screen *screen, int signal)
{
	leave(screen);
	sigprocmask(SIG_SETMASK, &screen->mask_before, NULL);
	if (signal)
		raise(signal);
}

static bool quits_by_signal(struct screen *screen)
{
	struct signalfd_siginfo signal = {0};

	read(screen->signals, &signal, sizeof(signal));
	if (signal.ssi_signo == SIGTERM || signal.ssi_signo == SIGHUP)
		give_back(screen, (int)signal.ssi_signo);
	if (signal.ssi_signo == SIGTSTP) {
		leave(screen);
		raise(SIGSTOP);
		enter(screen);
	}
	return signal.ssi_signo == SIGINT;
}

static bool quits(struct screen *screen, int interval_ms)
{
	struct pollfd looks[] = {{screen->signals, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
	char key = 0;

	if (poll(looks, screen->has_keys ? 2 : 1, interval_ms) < 1)
		return false;
	if (looks[0].revents)
		return quits_by_signal(screen);
	/* If there is no key, standard input has ended, and is not read again. */
	screen->has_keys = read(STDIN_FILENO, &key, 1) == 1;
	return key == 'q' || key == 'Q';
}

static int draw(const struct options *options, struct output *output, bool *ret_live)
{
	const struct page page = cmd_page(options, output);
	struct report report;
	int status = judge_run(options, options->run, true, &report);

	*ret_live = report.live && !ferror(output->file);
	if (!status && report_text(&report, false, &page) < 0)
		status = cmd_fail("%s", strerror(ENOMEM));
	else if (!status && !report.series.count)
		status = CMD_CANNOT_SAY;
	judge_done(&report);
	fflush(output->file);
	return status;
}

int cmd_top(const struct options *options)
{
	struct options quiet = *options;
	struct screen screen;
	struct output output;
	int status = cmd_open_output(options, &output);
	bool live = true, has_quit = false;
	int64_t rest_ms;

	if (status)
		return status;
	quiet.quiet = true;
	if (take(output.file, &screen)) {
		while (live && !has_quit) {
			const clock_t begun = clock();

			fputs(CLEAR, output.file);
			status = draw(&quiet, &output, &live);
			rest_ms = (clock() - begun) * REST * 1000 / CLOCKS_PER_SEC;
			rest_ms = rest_ms < options->interval_ms ? options->interval_ms : rest_ms;
			has_quit = live && quits(&screen, (int)rest_ms);
		}
		give_back(&screen, 0);
	}
	/* If the run has ended, or after an error, the last screen is printed and stays. */
	if (!has_quit)
		status = draw(&quiet, &output, &live);
	return cmd_close_output(&output, status);
}
