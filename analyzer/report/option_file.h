/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_file.h - options that are kept in a file: `@FILE` on the command line. Each line holds one
 * option and its argument, which may be quoted; # begins a comment, at the begin of a line or after
 * a space.
 */
#pragma once

#include "line/line.h"

#define OPTION_FILE_MOST 1024 /* arguments of the whole command line */

/*
 * Replaces words @FILE in the command line `argv`, which was parsed into `line`, by their options,
 * before the line's own ones, in *ret. *ret_file: the last such file; NULL: there is none, and *ret
 * is left as it is. The number of arguments, or -EINVAL with `line->problem` set.
 */
int option_file_expand(struct line *line, int argc, char **argv, const char *verb, char ***ret,
		       const char **ret_file);
