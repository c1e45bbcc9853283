/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - parses the command line of dlprof. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "line/line.h"

enum launch_verb {
	LAUNCH_NONE,
	LAUNCH_RUN,
	LAUNCH_DOCTOR,
	LAUNCH_DEMO,
	LAUNCH_TUNE,
	LAUNCH_VERB_MAX
};

#define LAUNCH_LEAST_BATCHES 20 /* least value of tune's --batches */

struct launch_options {
	struct line line;
	enum launch_verb verb;
	char **command; /* ends with NULL */
	const char *library;
	const char *output;
	/* values of DLPROF_ variables; NULL: not given, so the variable is left alone */
	const char *detail, *batch_fn, *cuda, *segment_dir, *log;
	char set[1024];
	bool has_set, set_is_too_long;
	int64_t slow_us, stop_after; /* -1: not given, so the variable is left alone */
	int64_t seconds, batches, rounds, max_time; /* -1: not given */
	bool always, dry_run, exec, quiet, json, ascii;
};

extern const struct line_program launch_program;

/* Parses a command line. Returns 0, or -EINVAL with `line.problem` set. */
int launch_options_parse(struct launch_options *ret, int argc, char **argv);
