/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_file.h - reads options from a file, which the command line names as `@FILE`. Each line has
 * one option and its argument, which may be quoted. A # at a line's start or after a space begins a
 * comment.
 */
#pragma once

#include "line/line.h"

#define OPTION_FILE_MOST 1024 /* most arguments, with those from files */

/*
 * Replaces each @FILE of the command line `argv`, which was parsed into `line`, by the options in
 * the file. In *ret these come before the command line's own. *ret_file is the last FILE. Without
 * @FILE it is NULL, and *ret is unchanged. Returns the number of arguments, or -EINVAL and
 * `line->problem`.
 */
int option_file_expand(struct line *line, int argc, char **argv, const char *verb, char ***ret,
		       const char **ret_file);
