/* SPDX-License-Identifier: Apache-2.0 */
#include "report/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "dlprof/units.h"

#define ENTER "\033[?1049h\033[?25l" /* the other screen, no cursor */
#define LEAVE "\033[?25h\033[?1049l"
#define CLEAR "\033[H\033[J"

#define NS_PER_MS 1000000

static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH};

static struct screen {
	FILE *out; /* NULL: not taken */
	bool has_keys;
	struct termios before;
	struct sigaction actions[ARRAY_COUNT(SIGNALS)];
} screen;

static volatile sig_atomic_t caught; /* the last signal, or 0 */

static void catch (int signal)
{
	caught = signal;
}

/* Keys come one by one, and are not shown. Not in the background, where it would stop us. */
static void take_keys(void)
{
	struct termios keys;

	screen.has_keys = tcgetpgrp(STDIN_FILENO) == getpgrp() &&
			  tcgetattr(STDIN_FILENO, &screen.before) == 0;
	if (!screen.has_keys)
		return;
	keys = screen.before;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 0;
	keys.c_cc[VTIME] = 0;
	screen.has_keys = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
}

static void enter(void)
{
	take_keys();
	fputs(ENTER, screen.out);
	fflush(screen.out);
}

static void leave(void)
{
	fputs(LEAVE, screen.out);
	fflush(screen.out);
	if (screen.has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
	screen.has_keys = false;
}

bool screen_take(FILE *out)
{
	/* Restarted, or a signal while a picture is written would be an error of the output. */
	struct sigaction action = {.sa_handler = catch, .sa_flags = SA_RESTART};
	const char *term = getenv("TERM");

	if (screen.out || !isatty(fileno(out)) || !term || strcmp(term, "dumb") == 0)
		return false;
	screen.out = out;
	for (size_t i = 0; i < ARRAY_COUNT(SIGNALS); i++) {
		sigaction(SIGNALS[i], NULL, &screen.actions[i]);
		if (screen.actions[i].sa_handler != SIG_IGN) /* as `nohup` wants it */
			sigaction(SIGNALS[i], &action, NULL);
	}
	enter();
	return true;
}

void screen_give_back(void)
{
	if (!screen.out)
		return;
	leave();
	for (size_t i = 0; i < ARRAY_COUNT(SIGNALS); i++)
		sigaction(SIGNALS[i], &screen.actions[i], NULL);
	screen.out = NULL;
}

void screen_clear(void)
{
	if (screen.out)
		fputs(CLEAR, screen.out);
}

/*
 * Sleeps. Signals are let in only here: one that came between a look at `caught` and the sleep
 * would be noticed only after it. True: there is a key.
 */
static bool sleep_for(int interval_ms)
{
	struct pollfd keys = {.fd = screen.has_keys ? STDIN_FILENO : -1, .events = POLLIN};
	const struct timespec limit = {.tv_sec = interval_ms / 1000,
				       .tv_nsec = (long)(interval_ms % 1000) * NS_PER_MS};
	sigset_t all, before;
	bool is_key = false;

	sigemptyset(&all);
	for (size_t i = 0; i < ARRAY_COUNT(SIGNALS); i++)
		sigaddset(&all, SIGNALS[i]);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (!caught)
		is_key = ppoll(&keys, 1, &limit, &before) > 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return is_key;
}

/* Takes a key. True: it is q. After the end of standard input there are none. */
static bool take_quit_key(void)
{
	char key;
	ssize_t count = read(STDIN_FILENO, &key, 1);

	if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) {
		tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
		screen.has_keys = false;
	}
	return count == 1 && (key == 'q' || key == 'Q');
}

static void stop(void)
{
	leave();
	raise(SIGSTOP);
	enter();
}

enum screen_event screen_wait(int interval_ms)
{
	bool is_key = sleep_for(interval_ms);
	int signal = caught;

	caught = 0;
	switch (signal) {
	case 0:
		return is_key && take_quit_key() ? SCREEN_QUIT : SCREEN_DRAW;
	case SIGINT:
		return SCREEN_QUIT;
	case SIGTSTP:
		stop();
		return SCREEN_DRAW;
	case SIGWINCH:
		return SCREEN_DRAW;
	default:
		screen_give_back();
		raise(signal);
		return SCREEN_QUIT;
	}
}
