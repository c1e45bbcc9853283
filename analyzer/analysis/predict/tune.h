/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - chooses settings that are worth a trial, and judges the trials.
 *
 * A round runs the training unchanged, once with each setting, and unchanged again. This last run
 * also begins the next round, which tries the settings in opposite order, so that a machine that
 * slows down favours none. A gain is log(rate / geometric mean of the two unchanged rates).
 *
 * A gain is proven if the interval of its mean is above 0 after TUNE_LEAST rounds or the last one.
 * For n gains with deviation s, it is +- t s / sqrt(n) (Student 1908), times sqrt((4n - 1) / (3n -
 * 1)), as the run that two rounds share correlates their gains by 1/6, or less if runs resemble
 * their neighbours. For k settings judged m times each, the confidence is 1 - 0.05 / (k m)
 * (Bonferroni; Dunn 1961). So at most 2.5 % of trainings get a falsely "proven" gain.
 */
#pragma once

#include "analysis/predict/whatif.h"
#include "dlprof/set.h"

#define TUNE_LEAST  3 /* smallest number of rounds that can prove a gain */
#define TUNE_MOST   9
#define TUNE_TRIED  4
#define TUNE_LISTED 12
#define TUNE_WORTH  0.03 /* smaller gains are not worth a change */
/*
 * A setting is worth a trial if its predicted gain is at least this, even if the range begins below
 * 0. If other programs take cores, a number of workers is worth a trial, too, if both the upper end
 * of its range and the stall ratio are at least this.
 */
#define TUNE_PROMISE 0.1

enum tune_choice {
	TUNE_TRY,
	TUNE_NO_GAIN,
	TUNE_NO_MEMORY,
	TUNE_NO_SHM, /* the prefetched batches would not fit into /dev/shm */
	TUNE_NO_SETTING, /* the loader lacks the setting */
	TUNE_NO_TIME,
};

struct tune_candidate {
	enum dlprof_set key;
	int32_t before, value; /* value in the run (-1: unknown), and value to try */
	double gain, low, high; /* predicted gain and its range; 0.1: 10 % more; NAN: unknown */
	bool may_be_shared; /* `low` is 0 or less only because workers may share a limit */
	enum tune_choice choice;
	double need_bytes;
};

/* What limits a change of settings. NAN: unknown. */
struct tune_room {
	double worker_bytes, free_bytes; /* private memory of a worker; free memory */
	double batch_bytes, shm_bytes; /* size of a batch; free space of /dev/shm */
	bool lacks_order; /* the loader does not have in_order */
};

/* Lists settings in ret[TUNE_LISTED], the best ones first. Returns their number. */
size_t tune_choose(const struct whatif *whatif, const struct tune_room *room,
		   bool too_many_threads, struct tune_candidate *ret);

/* Returns the quantile `share` (0.5 to 1) of Student's t with `freedom` (>= 1) degrees. */
double tune_t(double share, size_t freedom);

/* The mean of the rounds' gains, which are logarithms, and its interval. */
struct tune_interval {
	double mean, low, high; /* low and high are NAN for fewer than two rounds */
};

struct tune_interval tune_interval(const double *gains, size_t count, size_t settings,
				   size_t rounds);

enum tune_verdict {
	TUNE_OPEN, /* one more round may decide */
	TUNE_PROVEN,
	TUNE_NOT_PROVEN,
	TUNE_NO_WORTH, /* the setting surely gains less than TUNE_WORTH */
	TUNE_DIED,
	TUNE_UNCHANGED,
};

/* Judges one of `settings` settings after `count` of `rounds` rounds; `is_over`: no more follow. */
enum tune_verdict tune_judge(const double *gains, size_t count, size_t settings, size_t rounds,
			     bool is_over);

/* Names in JSON. */
extern const char *const tune_verdict_ids[];
extern const char *const tune_choice_ids[];
