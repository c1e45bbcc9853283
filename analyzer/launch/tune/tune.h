/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - `dlprof tune`: the training is run again and again for a while, as it is and with
 * settings that should make it faster, each time from its start.
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
	double seconds; /* from its start to its end */
	size_t batch_count; /* that it was handed out */
	double per_s; /* batches a second, but for those left out; NAN: too few */
	bool by_itself; /* it ended before it was to be ended */
	char died[TUNE_REASON];  /* why it came to no good end; "": it did */
};

/* A setting that is tried. */
struct tune_trial {
	struct tune_candidate *candidate;
	char set[TUNE_SETTING]; /* as DLPROF_SET has it */
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

	/* Of the base run: */
	char kind[48], place[TUNE_PLACE]; /* of the loader that is judged */
	bool is_iterable;
	double stall_ratio;
	const char *gap; /* why nothing is predicted; NULL: something is */
	char wrote[300]; /* files that each run writes; "": none that is large */
	struct tune_candidate candidates[TUNE_LISTED];
	size_t candidate_count;

	size_t skip, stop_after; /* batches that are left out, and after which a run is ended */
	struct tune_trial trials[TUNE_TRIED];
	size_t trial_count;
	double base_per_s[TUNE_MOST]; /* of each round */
	size_t round_count;	      /* whole ones */
	size_t run_count;
	double seconds; /* of all of it */
	const char *cut; /* why it ended early; NULL: it did not */
};

/*
 * tune_run.c: runs the command with these settings (NULL: as it is), recorded as FOLDER/name.db and
 * ended after so many batches, and measures it. Its output goes to FOLDER/name.log. 0, or -EINTR: a
 * signal asked to end; -errno: it cannot be started. No process of it is left.
 */
int tune_run(const struct tune *tune, const char *name, const char *set, size_t stop_after,
	     double most_s, struct tune_run *ret);

/* From now on SIGINT, SIGTERM and SIGHUP end what runs, and tune_run() returns -EINTR. */
void tune_catch_signals(void);

/* tune_base.c: what the base run says. 0 or LAUNCH_ERROR, and why is printed. */
int tune_read_base(struct tune *tune, const struct tune_run *base);

/* tune_screen.c: all that is known. 0 or -ENOMEM. */
int tune_show(const struct tune *tune);
void tune_json(const struct tune *tune, FILE *out);
