/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_file.h - options that are kept in a file: `@FILE` on the command line. Each line holds one
 * option and its argument, which may stand in quotes; # begins a comment, at a line's begin or
 * behind a space.
 */
#pragma once

#include "line/line.h"

#define OPTION_FILE_MOST 1024 /* arguments of the whole command line */

/*
 * Into *ret the command line `argv`, which was parsed into `line`, with what its words of the form
 * @FILE stand for; the line's own options come later. *ret_file: the last such word's path; NULL:
 * there is none, and *ret is left as it is. The number of arguments, or -EINVAL with
 * `line->problem` set.
 */
int option_file_expand(struct line *line, int argc, char **argv, const char *verb, char ***ret,
		       const char **ret_file);
