/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int launch_find_library(const struct launch_options *options, struct preload *ret)
{
	int r = preload_find(options->library, ret);

	if (r < 0)
		return launch_fail("cannot preload '%s': %s; name another with --library",
				   ret->library, preload_error(ret, r));
	return 0;
}

int launch_output_folder(const char *pattern, char *ret, size_t size)
{
	const char *slash = strrchr(pattern, '/');

	for (size_t length = slash ? (size_t)(slash - pattern) + 1 : 0;; length--) {
		if (length && (pattern[length - 1] != '/' || memchr(pattern, '%', length)))
			continue;
		snprintf(ret, size, "%.*s", length ? (int)length : 1, length ? pattern : ".");
		if (access(ret, W_OK | X_OK) == 0)
			return 0;
		if (errno != ENOENT || !length)
			return -errno;
	}
}

static bool is_python_script(const char *name)
{
	size_t length = strlen(name);

	return length > 3 && strcmp(name + length - 3, ".py") == 0;
}

int launch_fail_run(const struct launch_options *options, int error)
{
	const char *name = options->command[0];
	const bool is_script = is_python_script(name);

	launch_fail("cannot run '%s': %s%s%s%s%s", name, strerror(error),
		    is_script ? "; did you mean: dlprof " : "",
		    !is_script                     ? ""
		    : options->verb == LAUNCH_TUNE ? "tune"
						   : "run",
		    is_script ? " python " : "", is_script ? name : "");
	return error == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_CANNOT_RUN;
}

const char *const launch_settings[] = {
#define SETTING(name, wants, set, value, help) #name,
#include "dlprof/settings.def"
#undef SETTING
	NULL,
};

const char *launch_temporary(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && folder[0] == '/' ? folder : "/tmp";
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
