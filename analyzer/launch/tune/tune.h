/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - `dlprof tune`: run the training again and again for a while, always from its start, as
 * it is and with settings that should make it faster.
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

/* One run of the training. */
struct tune_run {
	char database[PATH_MAX]; /* "": nothing was recorded */
	double seconds; /* time from its start to its end */
	size_t batch_count; /* batches handed out */
	double per_s; /* batches a second, without those left out; NAN: too few */
	bool by_itself; /* it ended before tune ended it */
	char died[TUNE_REASON];  /* how it failed; "": it did not */
};

/* A setting that is tried. */
struct tune_trial {
	struct tune_candidate *candidate;
	char set[TUNE_SETTING]; /* setting in the form of DLPROF_SET */
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

	/* Facts about the base run: */
	char kind[48], place[TUNE_PLACE]; /* about the judged loader */
	bool is_iterable;
	double stall_ratio;
	const char *gap; /* why nothing can be predicted; or NULL */
	char wrote[300]; /* large files that each run writes; "": none */
	struct tune_candidate candidates[TUNE_LISTED];
	size_t candidate_count;

	size_t skip, stop_after; /* batches to leave out, and batches after which to end a run */
	struct tune_trial trials[TUNE_TRIED];
	size_t trial_count;
	double base_per_s[TUNE_MOST]; /* batches a second of the base run in each round */
	size_t round_count;	      /* complete rounds */
	size_t run_count;
	double seconds; /* time of all runs */
	const char *cut; /* why rounds ended early; NULL: they did not */
};

/*
 * tune_run.c: runs the command with these settings (NULL: as it is), recorded as FOLDER/name.db and
 * ended after so many batches, and measures it. Its output goes to FOLDER/name.log. 0, -EINTR: a
 * signal asked to end; -errno: it cannot be started. None of its processes is left.
 */
int tune_run(const struct tune *tune, const char *name, const char *set, size_t stop_after,
	     double most_s, struct tune_run *ret);

/* From now on SIGINT, SIGTERM and SIGHUP end the run, and tune_run() returns -EINTR. */
void tune_catch_signals(void);

/* tune_base.c: reads the base run. 0, or LAUNCH_ERROR after printing why. */
int tune_read_base(struct tune *tune, const struct tune_run *base);

/* tune_screen.c: shows all that is known. 0 or -ENOMEM. */
int tune_show(const struct tune *tune);
void tune_json(const struct tune *tune, FILE *out);
