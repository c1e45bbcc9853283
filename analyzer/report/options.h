/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - parses the command line of dlprof-report. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/gate/gate.h"
#include "analysis/predict/whatif.h"
#include "line/line.h"
#include "render/form/terminal.h"

#define OPTIONS_MOST_META      32
#define OPTIONS_MOST_BASELINES 1000
#define OPTIONS_MOST_LIMITS    64
#define OPTIONS_MOST_WORST     10000

enum verb {
	VERB_REPORT,
	VERB_BATCHES,
	VERB_COMPARE,
	VERB_GATE,
	VERB_HTML,
	VERB_IMPORT,
	VERB_TRACE,
	VERB_EXPORT,
	VERB_TOP,
	VERB_FOLD,
	VERB_SQL,
	VERB_MAX
};

struct option_limit {
	const char *text;
	bool is_error;
};

struct options {
	struct line line;
	enum verb verb;
	const char *run; /* first word: a database, a folder, or a table to import */
	char **runs;
	int run_count;
	const char *output;                  /* NULL or "-": standard output */
	const char *explain;                 /* NULL: not given */
	const char *meta[OPTIONS_MOST_META]; /* KEY=VALUE */
	size_t meta_count;
	struct whatif_wish wishes[WHATIF_MOST_ASKED];
	size_t wish_count;
	const char *view;    /* NULL: all views */
	const char *into;    /* NULL: not given */
	bool with_batches;
	int64_t worst;       /* -1: not given */
	int64_t interval_ms;
	bool json, csv;
	bool force, quiet, ascii;
	bool verbose, coverage, markdown;
	bool redact;
	enum terminal_color color;
	int64_t rank, epoch, loader; /* -1: not given */
	const char *job;             /* NULL: not given */
	int64_t first, last;         /* first and last batch of --batches; -1: no limit */
	const char *max_stall_ratio, *min_effect, *format; /* NULL: not given */
	enum gate_action on_inconclusive;
	int on_few_baselines; /* an enum gate_action; -1: like `on_inconclusive` */
	struct option_limit limits[OPTIONS_MOST_LIMITS];
	size_t limit_count;
	const char *option_file; /* path of the last @FILE; NULL: none */
	const char *baselines[OPTIONS_MOST_BASELINES];
	size_t baseline_count;
	enum gate_rule rule;
	bool why, calibrate, update_baseline;
	int64_t ranks; /* -1: not given */
};

extern const struct line_program options_program;

/* Parses a command line. --help ends all checks. Returns 0, or -EINVAL with `line.problem` set. */
int options_parse(struct options *ret, int argc, char **argv);
