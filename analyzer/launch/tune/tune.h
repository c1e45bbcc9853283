/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - `dlprof tune`: runs the training for a while, in turn unchanged and with other
 * settings.
 */
#pragma once

#include <limits.h>

#include "analysis/predict/same.h"
#include "analysis/predict/tune.h"
#include "launch/cmd.h"
#include "render/run/compare.h"

#define TUNE_REASON  200
#define TUNE_SETTING 160
#define TUNE_SET     1280
#define TUNE_PLACE   96

struct tune_run {
	char database[PATH_MAX]; /* of the measured rank; "": it took no batch */
	int64_t rank;
	double seconds;
	size_t batch_count;
	double per_s; /* batches a second; NAN: too few batches to measure */
	bool by_itself, is_late; /* it ended by itself, or was ended as it took too long */
	bool is_set; /* a loader or worker took the setting */
	char died[TUNE_REASON];  /* how the run failed; "": it did not */
	char resumed[300]; /* files it read that an earlier run had written; "": none */
};

struct tune_trial {
	struct tune_candidate *candidate;
	char set[TUNE_SET]; /* the trial's settings, after those that DLPROF_SET has for all runs */
	double gains[TUNE_MOST];
	size_t count;
	enum tune_verdict verdict;
	char died[TUNE_REASON];
	char database[PATH_MAX]; /* database of the first round; "": none */
	/* the shared limit by which more workers gain nothing; "": none is proven */
	char shared[COMPARE_SHARED];
};

struct tune {
	const struct launch_options *options;
	struct preload preload;
	struct target target;
	char folder[PATH_MAX];
	double begin_s;
	uint64_t begin_ms; /* the time of day */

	/* The next members are from the base run, the first run that is recorded. */
	char first[PATH_MAX]; /* the database of the rank that waited most; "": not run yet */
	int64_t rank, world_size;
	char kind[48], place[TUNE_PLACE];
	bool is_iterable;
	double stall_ratio;
	double cores, other_cores; /* what other programs took of them; 0: next to nothing */
	const char *gap; /* why nothing can be predicted; NULL: predictions are possible */
	char wrote[300]; /* large files that each run writes; "": none */
	char resumed[300]; /* files a run read that an earlier one had written; "": none */
	struct tune_candidate candidates[TUNE_LISTED];
	size_t candidate_count;

	size_t skip, stop_after; /* batches of a run: unmeasured ones at its start; all of them */
	struct tune_trial trials[TUNE_TRIED];
	size_t trial_count;
	/* batches a second without a setting, before the first round and after each */
	double base_per_s[TUNE_MOST + 1];
	char database[PATH_MAX]; /* database of the base run before the first round */
	size_t round_count;
	size_t run_count, runs_left; /* number of runs so far; most that follow */
	double seconds, run_seconds; /* time of tune, and of its runs without the first one */
	char cut[TUNE_REASON + 80]; /* why the rounds ended early; "": they did not */
};

/*
 * Runs the command with a trial's settings, or unchanged (NULL). Writes FOLDER/name.db and .log,
 * and leaves no process behind (tune_run.c). Returns 0; -EINTR: a signal is to end tune; -errno:
 * the command cannot be started.
 */
int tune_run(const struct tune *tune, const char *name, const struct tune_trial *trial,
	     size_t stop_after, double most_s, struct tune_run *ret);

/* Makes tune_run() return -EINTR after a signal that would end tune. */
void tune_catch_signals(void);

double tune_now_s(void);
uint64_t tune_time_ms(void); /* the time of day */

const char *tune_value(const struct tune_candidate *c, char *buffer, size_t size);

/* Reads the base run. Returns 0, or LAUNCH_ERROR after printing why not (tune_base.c). */
int tune_read_base(struct tune *tune, const struct tune_run *base);

/* Writes what workers share, which is why more of them bring nothing, to trials' `shared`. */
void tune_read_shared(struct tune *tune);

/* Writes "workers=4", and returns `buffer`. */
const char *tune_setting(const struct tune_candidate *c, char *buffer, size_t size);

/* Prints the result (tune_screen.c). Returns 0 or -ENOMEM. */
int tune_show(const struct tune *tune);
void tune_json(const struct tune *tune, FILE *out);
