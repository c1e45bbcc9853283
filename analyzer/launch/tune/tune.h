/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - `dlprof tune`: runs the training repeatedly, each time from its start and for a short
 * while, unchanged and with settings that should make it faster.
 */
#pragma once

#include <limits.h>

#include "analysis/predict/same.h"
#include "analysis/predict/tune.h"
#include "launch/cmd.h"
#include "render/run/compare.h"

#define TUNE_REASON  200
#define TUNE_SETTING 160
#define TUNE_PLACE   96

/* Results of one run of the training. */
struct tune_run {
	char database[PATH_MAX]; /* path of the database; "": nothing was recorded */
	double seconds; /* time from the run's start to its end */
	size_t batch_count; /* batches that the training got */
	double per_s; /* measured batches a second; NAN: too few */
	bool by_itself; /* the run ended before it was to be ended */
	bool is_set; /* some loader or worker took the setting that is tried */
	char died[TUNE_REASON];  /* how the run failed; "": it did not */
};

/* A setting to try, and its results. */
struct tune_trial {
	struct tune_candidate *candidate;
	char set[TUNE_SETTING]; /* the setting in the form of DLPROF_SET */
	double gains[TUNE_MOST];
	size_t count;
	enum tune_verdict verdict;
	char died[TUNE_REASON];
	char database[PATH_MAX]; /* of the first round; "": there was none */
	char shared[COMPARE_SHARED]; /* what limits more workers, too; "": nothing is known to */
};

struct tune {
	const struct launch_options *options;
	struct preload preload;
	struct target target;
	char folder[PATH_MAX];

	/* Facts from the base run, the first that is recorded: */
	char kind[48], place[TUNE_PLACE]; /* the judged loader's type and place */
	bool is_iterable;
	double stall_ratio;
	const char *gap; /* why nothing can be predicted; NULL: predictions are possible */
	char wrote[300]; /* large files that each run writes; "": none */
	struct tune_candidate candidates[TUNE_LISTED];
	size_t candidate_count;

	size_t skip, stop_after; /* first batches not measured; batches after which a run ends */
	struct tune_trial trials[TUNE_TRIED];
	size_t trial_count;
	double base_per_s[TUNE_MOST]; /* base run's rate in each round */
	char database[PATH_MAX]; /* of the base run in the first round */
	size_t round_count;	      /* number of complete rounds */
	size_t run_count;
	double seconds; /* total time of all runs */
	const char *cut; /* why the rounds ended early; NULL: they did not */
};

/*
 * Runs the command with a trial's setting (NULL: unchanged), and measures it (tune_run.c):
 * recorded as FOLDER/name.db, output to FOLDER/name.log, ended after `stop_after` batches. Returns
 * 0; -EINTR if a signal is to end tune; -errno if the command cannot be started. Leaves no process
 * behind.
 */
int tune_run(const struct tune *tune, const char *name, const struct tune_trial *trial,
	     size_t stop_after, double most_s, struct tune_run *ret);

/* Makes SIGINT, SIGTERM and SIGHUP end the current run: tune_run() then returns -EINTR. */
void tune_catch_signals(void);

/* Returns the monotonic clock's time in seconds (tune_run.c). */
double tune_now_s(void);

/* Writes a setting's value, as --set has it, and returns it (tune_base.c). */
const char *tune_value(const struct tune_candidate *c, char *buffer, size_t size);

/* Reads the base run (tune_base.c). Returns 0, or prints why not and returns LAUNCH_ERROR. */
int tune_read_base(struct tune *tune, const struct tune_run *base);

/*
 * For trials of more workers that proved no gain: if a load took longer there, because the workers
 * share a limit such as the cores or a server, writes that to the trial's `shared`.
 */
void tune_read_shared(struct tune *tune);

/* Shows all results (tune_screen.c). Returns 0 or -ENOMEM. */
int tune_show(const struct tune *tune);
void tune_json(const struct tune *tune, FILE *out);
