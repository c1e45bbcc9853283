/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - which settings are worth a real trial, and what trials prove.
 *
 * A round runs the training once unchanged and once with each setting, in one order and in the next
 * round in the other, so that a machine that slows down steadily favours no setting. A round's gain
 * is the logarithm of the setting's rate over that of the same round's unchanged run: no two rounds
 * share a run, so the gains of rounds are independent of each other.
 *
 * Their mean has Student's interval, mean +- t s / sqrt(n) with n - 1 degrees of freedom (Student
 * 1908). A gain is proven if its interval lies above 0. The interval is looked at after TUNE_LEAST
 * rounds and after the last one. With k settings and n looks each interval is that of a confidence
 * of 1 - 0.05 / (k n) (Bonferroni; Dunn 1961), so that all hold together with 95 %. As only one
 * side is a gain, 2.5 % at most of trainings with nothing to gain have one "proven". A setting that
 * is given up early has no gain, which proves nothing falsely.
 */
#pragma once

#include "analysis/predict/whatif.h"
#include "dlprof/set.h"

#define TUNE_LEAST  3    /* least rounds before a gain can be proven */
#define TUNE_MOST   9    /* most rounds */
#define TUNE_TRIED  4    /* most settings that are tried */
#define TUNE_LISTED 12   /* most settings that are listed */
#define TUNE_WORTH  0.03 /* a smaller gain is not worth a change */
/* A predicted gain of this size is worth a trial even if its range includes no gain. */
#define TUNE_PROMISE 0.1

enum tune_choice {
	TUNE_TRY,
	TUNE_NO_GAIN, /* the predicted gain is too small: see TUNE_PROMISE */
	TUNE_NO_MEMORY, /* the workers do not fit into memory */
	TUNE_NO_SHM, /* the batches under way do not fit into /dev/shm */
	TUNE_NO_TIME, /* other settings are tried first */
};

/* A setting, its predicted gain, and whether to try it. */
struct tune_candidate {
	enum dlprof_set key;
	int32_t before, value; /* the run's value, -1: not known; the value to try */
	double gain, low, high; /* predicted gain and its range; 0.1: 10 % more; NAN: unknown */
	bool may_be_shared; /* the range begins at no gain, since workers may share a limit */
	enum tune_choice choice;
	double need_bytes; /* bytes needed, if they do not fit */
};

/* The machine's room for workers and batches; NAN: not known. */
struct tune_room {
	double worker_bytes, free_bytes; /* private memory of a worker; free memory */
	double batch_bytes, shm_bytes; /* size of a batch; free space of /dev/shm */
};

/*
 * Fills ret[TUNE_LISTED] with predictions for the run, those with the most gain first, and returns
 * their number. Wishes must be for numbers of workers.
 */
size_t tune_choose(const struct whatif *whatif, const struct tune_room *room,
		   struct tune_candidate *ret);

/* Returns Student's t below which this share (0.5 to 1) lies; `freedom` is 1 or more. */
double tune_t(double share, size_t freedom);

/*
 * The mean gain (a logarithm) of `count` rounds out of at most `rounds`, and its interval, if
 * `settings` settings are tried.
 */
struct tune_interval {
	double mean, low, high; /* low and high are NAN for fewer than two rounds */
};

struct tune_interval tune_interval(const double *gains, size_t count, size_t settings,
				   size_t rounds);

enum tune_verdict {
	TUNE_OPEN, /* undecided: another round may decide */
	TUNE_PROVEN,
	TUNE_NOT_PROVEN,
	TUNE_NO_WORTH, /* the setting cannot gain TUNE_WORTH */
	TUNE_DIED, /* a run with the setting did not end normally */
	TUNE_UNCHANGED, /* the run did not take the setting */
};

/* Judges a setting by its rounds' gains. `is_over`: no more rounds will be run. */
enum tune_verdict tune_judge(const double *gains, size_t count, size_t settings, size_t rounds,
			     bool is_over);

/* Names of verdicts and choices in JSON. */
extern const char *const tune_verdict_ids[];
extern const char *const tune_choice_ids[];
