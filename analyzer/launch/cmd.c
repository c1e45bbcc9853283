/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/cmd.h"

#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDEST 100

static void say(const char *format, va_list args)
{
	const struct page page = {.out = stderr, .ascii = false, .width = INT16_MAX};
	char text[2 * PATH_MAX];

	vsnprintf(text, sizeof(text), format, args);
	page_line(&page, "dlprof: %s", text);
}

int launch_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return LAUNCH_ERROR;
}

void launch_remark(const struct launch_options *options, const char *format, ...)
{
	va_list args;

	if (options->quiet)
		return;
	va_start(args, format);
	say(format, args);
	va_end(args);
}

int launch_find_library(const struct launch_options *options, struct preload *ret)
{
	int r = preload_find(options->library, ret);

	if (r < 0)
		return launch_fail("cannot preload '%s': %s; --library names another", ret->library,
				   preload_error(r));
	return 0;
}

struct page launch_page(const struct launch_options *options)
{
	const char *columns = getenv("COLUMNS"), *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	long width = columns ? strtol(columns, NULL, 10) : 0;
	struct winsize size;

	if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	if (width <= 0)
		width = PAGE_WIDTH;
	return (struct page){
		.out = stdout,
		.color = isatty(STDOUT_FILENO) && !(no_color && *no_color) && term &&
			 strcmp(term, "dumb") != 0,
		.ascii = options->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
		.width = width < PAGE_NARROWEST ? PAGE_NARROWEST
			 : width > WIDEST       ? WIDEST
						: (int)width,
	};
}

int launch_close(int status)
{
	errno = 0;
	if (ferror(stdout) | (fflush(stdout) != 0))
		return launch_fail("cannot write standard output: %s",
				   errno ? strerror(errno) : "device error");
	return status;
}
