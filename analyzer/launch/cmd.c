/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/cmd.h"

#include <stdarg.h>

#include "render/terminal.h"

#define PROGRAM "dlprof"

int launch_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	terminal_say(PROGRAM, format, args);
	va_end(args);
	return LAUNCH_ERROR;
}

void launch_remark(const struct launch_options *options, const char *format, ...)
{
	va_list args;

	if (options->quiet)
		return;
	va_start(args, format);
	terminal_say(PROGRAM, format, args);
	va_end(args);
}

int launch_find_library(const struct launch_options *options, struct preload *ret)
{
	int r = preload_find(options->library, ret);

	if (r < 0)
		return launch_fail("cannot preload '%s': %s; --library names another", ret->library,
				   preload_error(ret, r));
	return 0;
}

struct page launch_page(const struct launch_options *options)
{
	return terminal_page(stdout, TERMINAL_AUTO, options->ascii);
}

int launch_close(int status)
{
	const char *problem = terminal_close(stdout);

	return problem ? launch_fail("cannot write standard output: %s", problem) : status;
}
