/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - dlprof-report: understand the command line, run the command, exit with its status. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

#include "report/cmd.h"

/*
 * A standard stream that was closed would be given to the next file opened, and the report be
 * written into the database. Opened the wrong way round, so that using it is still an error.
 */
static int hold_streams(void)
{
	int fd;

	for (fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			return -errno;
	return 0;
}

static int print(const struct options *options)
{
	struct output output = {.file = stdout};

	if (options->help)
		options_help(output.file);
	else
		fputs("dlprof-report " DLPROF_VERSION "\n", output.file);
	return cmd_close_output(&output, CMD_DONE);
}

int main(int argc, char **argv)
{
	static int (*const commands[VERB_MAX])(const struct options *options) = {
		[VERB_REPORT] = cmd_report,
		[VERB_BATCHES] = cmd_batches,
	};
	struct options options;

	if (hold_streams() < 0)
		return CMD_ERROR;
	setlocale(LC_CTYPE, ""); /* numbers stay as they are in "C" */
	if (options_parse(&options, argc, argv) < 0)
		return cmd_fail("%s", options.problem);
	if (options.help || options.version)
		return print(&options);
	return commands[options.verb](&options);
}
