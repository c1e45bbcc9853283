/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - `dlprof tune`: runs the training again and again for a while, always from its start,
 * unchanged and with settings that should make it faster.
 */
#pragma once

#include <limits.h>

#include "analysis/predict/same.h"
#include "analysis/predict/tune.h"
#include "launch/cmd.h"
#include "render/form/outline.h"

#define TUNE_REASON  200
#define TUNE_SETTING 160
#define TUNE_PLACE   96

/* What one run of the training showed. */
struct tune_run {
	char database[PATH_MAX]; /* path of the database; "": nothing was recorded */
	double seconds; /* time from the run's start to its end */
	size_t batch_count; /* batches that the loader handed out */
	double per_s; /* measured batches a second; NAN: too few */
	bool by_itself; /* the run ended before tune ended it */
	char died[TUNE_REASON];  /* how the run failed; "": it did not */
};

/* A setting that is tried, and its results. */
struct tune_trial {
	struct tune_candidate *candidate;
	char set[TUNE_SETTING]; /* the setting in the form of DLPROF_SET */
	double gains[TUNE_MOST];
	size_t count;
	enum tune_verdict verdict;
	char died[TUNE_REASON];
};

struct tune {
	const struct launch_options *options;
	struct preload preload;
	struct target target;
	char folder[PATH_MAX];

	/* Facts about the base run, the first that is recorded: */
	char kind[48], place[TUNE_PLACE]; /* the judged loader's type and place */
	bool is_iterable;
	double stall_ratio;
	const char *gap; /* why nothing can be predicted; NULL: it can */
	char wrote[300]; /* large files that each run writes; "": none */
	struct tune_candidate candidates[TUNE_LISTED];
	size_t candidate_count;

	size_t skip, stop_after; /* batches that are not measured; batches after which a run ends */
	struct tune_trial trials[TUNE_TRIED];
	size_t trial_count;
	double base_per_s[TUNE_MOST]; /* rate of the base run in each round */
	size_t round_count;	      /* number of complete rounds */
	size_t run_count;
	double seconds; /* sum of the times of all runs */
	const char *cut; /* why rounds ended early; NULL: they did not */
};

/*
 * Runs the command with the settings `set` (NULL: unchanged), recorded as FOLDER/name.db and ended
 * after `stop_after` batches, and measures it (tune_run.c). Its output goes to FOLDER/name.log.
 * Returns 0, -EINTR: a signal wants to end it; -errno: it cannot be started. No process is left.
 */
int tune_run(const struct tune *tune, const char *name, const char *set, size_t stop_after,
	     double most_s, struct tune_run *ret);

/* Makes SIGINT, SIGTERM and SIGHUP end the run, so that tune_run() returns -EINTR. */
void tune_catch_signals(void);

/* Reads the base run (tune_base.c). Returns 0, or LAUNCH_ERROR after printing why. */
int tune_read_base(struct tune *tune, const struct tune_run *base);

/* Shows all results (tune_screen.c). Returns 0 or -ENOMEM. */
int tune_show(const struct tune *tune);
void tune_json(const struct tune *tune, FILE *out);
