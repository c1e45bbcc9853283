/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - chooses which settings are worth a real trial, and judges the trials.
 *
 * A round runs the training once unchanged and once with each setting; the next round has the
 * opposite order, so that a machine that steadily slows down favours no setting. A setting's gain
 * in a round is the logarithm of its rate / the rate of the unchanged run of that round. No two
 * rounds share a run, so the gains are independent.
 *
 * The mean of the gains has Student's interval, mean +- t s / sqrt(n) with n - 1 degrees of freedom
 * (Student 1908). A gain is proven if the interval is above 0. The interval is looked at after
 * TUNE_LEAST rounds, and after the last one. With k settings and n looks, each interval has a
 * confidence of 1 - 0.05 / (k n) (Bonferroni; Dunn 1961), so that all of them hold together with 95
 * %. Only one side is a gain, so at most 2.5 % of trainings with nothing to gain get a "proven"
 * gain. Giving up a setting early cannot prove a gain falsely.
 */
#pragma once

#include "analysis/predict/whatif.h"
#include "dlprof/set.h"

#define TUNE_LEAST  3    /* smallest number of rounds that can prove a gain */
#define TUNE_MOST   9    /* largest number of rounds */
#define TUNE_TRIED  4    /* largest number of settings that are tried */
#define TUNE_LISTED 12   /* largest number of settings that are listed */
#define TUNE_WORTH  0.03 /* a gain below this is not worth a change */
/* A setting is worth a trial if its predicted gain is at least this, whatever the range. */
#define TUNE_PROMISE 0.1

enum tune_choice {
	TUNE_TRY,
	TUNE_NO_GAIN, /* the predicted gain is too small: see TUNE_WORTH and TUNE_PROMISE */
	TUNE_NO_MEMORY, /* the workers do not fit into memory */
	TUNE_NO_SHM, /* the batches under way do not fit into /dev/shm */
	TUNE_NO_TIME, /* TUNE_TRIED other settings are tried first */
};

/* A setting, its predicted gain, and whether to try it. */
struct tune_candidate {
	enum dlprof_set key;
	int32_t before, value; /* value in the run (-1: not known), and value to try */
	double gain, low, high; /* predicted gain and its range; 0.1: 10 % more; NAN: not known */
	bool may_be_shared; /* the range includes no gain only because workers may share a limit */
	enum tune_choice choice;
	double need_bytes; /* bytes that the setting needs, if they do not fit */
};

/* Memory that the machine has for workers and batches; NAN: not known. */
struct tune_room {
	double worker_bytes, free_bytes; /* private memory of a worker; free memory */
	double batch_bytes, shm_bytes; /* size of a batch; free space of /dev/shm */
};

/*
 * Fills ret[TUNE_LISTED] with the run's predictions, the largest gain first, and returns their
 * number. Wishes in `whatif` must be for numbers of workers. `too_many_threads`: workers have more
 * threads than there are cores, so that one thread each comes first, although nothing predicts it.
 */
size_t tune_choose(const struct whatif *whatif, const struct tune_room *room,
		   bool too_many_threads, struct tune_candidate *ret);

/* Returns the quantile `share` (0.5 to 1) of Student's t; `freedom` is 1 or more. */
double tune_t(double share, size_t freedom);

/*
 * The mean gain (a logarithm) of `count` rounds, and its interval, if at most `rounds` rounds and
 * `settings` settings are tried.
 */
struct tune_interval {
	double mean, low, high; /* low and high are NAN if there are fewer than two rounds */
};

struct tune_interval tune_interval(const double *gains, size_t count, size_t settings,
				   size_t rounds);

enum tune_verdict {
	TUNE_OPEN, /* not decided: one more round may decide */
	TUNE_PROVEN,
	TUNE_NOT_PROVEN,
	TUNE_NO_WORTH, /* the setting surely gains less than TUNE_WORTH */
	TUNE_DIED, /* a run with the setting failed */
	TUNE_UNCHANGED, /* a run with the setting did not use it */
};

/* Judges a setting by the gains of its rounds. `is_over`: no further round will run. */
enum tune_verdict tune_judge(const double *gains, size_t count, size_t settings, size_t rounds,
			     bool is_over);

/* Names of verdicts and choices in JSON. */
extern const char *const tune_verdict_ids[];
extern const char *const tune_choice_ids[];
