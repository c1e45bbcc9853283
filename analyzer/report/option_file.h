/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_file.h - options from a file: `@FILE` on the command line. Each line has one option and
 * its argument, which may be quoted; # begins a comment, at the begin of a line or after a space.
 */
#pragma once

#include "line/line.h"

#define OPTION_FILE_MOST 1024 /* most arguments, together with those of the files */

/*
 * Replaces words @FILE in the command line `argv`, which was parsed into `line`, by the options in
 * these files; *ret has them before the options of the command line. *ret_file: the last such file;
 * NULL: there is none, and *ret is not changed. Returns the number of arguments, or -EINVAL with
 * `line->problem` set.
 */
int option_file_expand(struct line *line, int argc, char **argv, const char *verb, char ***ret,
		       const char **ret_file);
