/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - `dlprof tune`: runs the training for a while, in turn unchanged and with other settings.
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
	char database[PATH_MAX]; /* database of the measured rank; "": no batch was taken */
	int64_t rank;
	double seconds;
	size_t batch_count;
	double per_s; /* batches a second; NAN: too few were measured */
	bool by_itself, is_late; /* the run ended by itself; or it took too long, and was ended */
	bool is_set; /* a loader or worker used the setting */
	char died[TUNE_REASON];  /* how the run failed; "": not at all */
	char resumed[300]; /* an earlier run's files from which this run went on; "": none */
};

struct tune_trial {
	struct tune_candidate *candidate;
	char set[TUNE_SET]; /* settings of the trial, after those of DLPROF_SET for all runs */
	double gains[TUNE_MOST];
	size_t count;
	enum tune_verdict verdict;
	char died[TUNE_REASON];
	char database[PATH_MAX]; /* database of the first round; "": none */
	/* the limit that workers share, so that more of them gain nothing; "": none is proven */
	char shared[COMPARE_SHARED];
};

struct tune {
	const struct launch_options *options;
	struct preload preload;
	struct target target;
	char folder[PATH_MAX];
	double begin_s;
	uint64_t begin_ms; /* time of day */

	/* The next members are from the base run, which is recorded first. */
	char first[PATH_MAX]; /* database of the rank that waited most; "": not run yet */
	int64_t rank, world_size;
	char kind[48], place[TUNE_PLACE];
	bool is_iterable;
	double stall_ratio;
	double cores, other_cores; /* all cores, and those used by others; 0: nearly none */
	const char *gap; /* why nothing can be predicted; NULL: predictions are possible */
	char wrote[300]; /* large files that every run writes; "": none */
	char resumed[300]; /* an earlier run's files from which a run went on; "": none */
	struct tune_candidate candidates[TUNE_LISTED];
	size_t candidate_count;

	size_t skip, stop_after; /* number of batches before measuring, and in a whole run */
	struct tune_trial trials[TUNE_TRIED];
	size_t trial_count;
	/* batches a second when nothing was changed: before the first round, and after each */
	double base_per_s[TUNE_MOST + 1];
	char database[PATH_MAX]; /* database of the unchanged run before the first round */
	size_t round_count;
	size_t run_count, runs_left; /* runs so far, and most that may follow */
	double seconds, run_seconds; /* time of all of tune, and of all runs but the first */
	char cut[TUNE_REASON + 80]; /* why the rounds ended early; "": they did not */
};

/*
 * Runs the command with the settings of a trial; NULL: unchanged. Writes FOLDER/name.db and .log,
 * and leaves no process behind (tune_run.c). Returns 0; -EINTR: a signal ends tune; -errno: the
 * command cannot start.
 */
int tune_run(const struct tune *tune, const char *name, const struct tune_trial *trial,
	     size_t stop_after, double most_s, struct tune_run *ret);

/* After a signal that would end tune, tune_run() returns -EINTR. */
void tune_catch_signals(void);

double tune_now_s(void);
uint64_t tune_time_ms(void); /* time of day */

const char *tune_value(const struct tune_candidate *c, char *buffer, size_t size);

/* Reads the base run. Returns 0, or LAUNCH_ERROR after it printed why it cannot (tune_base.c). */
int tune_read_base(struct tune *tune, const struct tune_run *base);

/* Writes to each trial's `shared` the limit that its workers share, if one is proven. */
void tune_read_shared(struct tune *tune);

/* Writes a setting like "workers=4". Returns `buffer`. */
const char *tune_setting(const struct tune_candidate *c, char *buffer, size_t size);

/* Prints the result (tune_screen.c). Returns 0 or -ENOMEM. */
int tune_show(const struct tune *tune);
void tune_json(const struct tune *tune, FILE *out);
