/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - dlprof: parses the command line, runs the command, exits with its status. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "launch/cmd.h"

static int print(const struct launch_options *options)
{
	if (options->line.help)
		line_help(&launch_program, options->verb == LAUNCH_NONE ? -1 : (int)options->verb,
			  stdout);
	else
		fputs("dlprof " DLPROF_VERSION "\n", stdout);
	return launch_close(LAUNCH_DONE);
}

int main(int argc, char **argv)
{
	static int (*const commands[LAUNCH_VERB_MAX])(const struct launch_options *options) = {
		[LAUNCH_RUN] = cmd_run,
		[LAUNCH_DOCTOR] = cmd_doctor,
		[LAUNCH_DEMO] = cmd_demo,
		[LAUNCH_TUNE] = cmd_tune,
	};
	struct launch_options options;

	setlocale(LC_CTYPE, "");
	if (argc == 2 && strcmp(argv[0], DEMO_PROGRAM) == 0)
		return cmd_demo_simulate(argv[1]);
	if (launch_options_parse(&options, argc, argv) < 0)
		return launch_fail("%s", options.line.problem);
	if (options.line.help || options.line.version)
		return print(&options);
	return commands[options.verb](&options);
}
