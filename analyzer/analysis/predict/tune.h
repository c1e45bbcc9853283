/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - which settings are worth a real trial, and what trials prove.
 *
 * A round runs the training once as it is and once with each setting, in one order and in the next
 * round in the other, so that a machine that slows down steadily favours nobody. A round's gain is
 * the logarithm of the setting's rate over that of the same round's base: no two rounds share a
 * run, so the gains of rounds are independent of each other.
 *
 * Their mean has Student's interval, mean +- t s / sqrt(n) with n - 1 degrees of freedom (Student
 * 1908). A gain is proven where its interval lies above 0. That is looked at after TUNE_LEAST
 * rounds and after the last one. With k settings and n looks each interval is that of a confidence
 * of 1 - 0.05 / (k n) (Bonferroni; Dunn 1961), so that all hold together with 95 %. As only one
 * side is a gain, 2.5 % at most of trainings with nothing to gain have one "proven". A
 * setting that is given up early has no gain, which proves nothing falsely.
 */
#pragma once

#include "analysis/predict/whatif.h"
#include "dlprof/set.h"

#define TUNE_LEAST  3    /* rounds before anything is proven */
#define TUNE_MOST   9    /* rounds */
#define TUNE_TRIED  4    /* settings that are tried at most */
#define TUNE_LISTED 12   /* settings that are spoken of at most */
#define TUNE_WORTH  0.03 /* a gain below is not worth a change */
/* A predicted gain that is worth a trial even if its range includes no gain. */
#define TUNE_PROMISE 0.1

enum tune_choice {
	TUNE_TRY,
	TUNE_NO_GAIN, /* too little is predicted: see TUNE_PROMISE */
	TUNE_NO_MEMORY, /* more workers than fit */
	TUNE_NO_SHM, /* more batches under way than /dev/shm holds */
	TUNE_NO_TIME, /* others promise more */
};

/* A setting, what is predicted of it, and whether to try it. */
struct tune_candidate {
	enum dlprof_set key;
	int32_t before, value; /* before -1: not known */
	double gain, low, high; /* predicted: 0.1 is 10 % more; NAN: unknown */
	bool may_be_shared; /* more workers may gain nothing: predicted from 0 on */
	enum tune_choice choice;
	double need_bytes; /* bytes needed, where they do not fit */
};

/* What the machine has room for; NAN: not known. */
struct tune_room {
	double worker_bytes, free_bytes; /* private memory of one worker; free memory */
	double batch_bytes, shm_bytes; /* one batch; free space of /dev/shm */
};

/*
 * Fills ret[TUNE_LISTED] with predictions for the base run, the most promising first, and returns
 * their number. Wishes must be numbers of workers.
 */
size_t tune_choose(const struct whatif *whatif, const struct tune_room *room,
		   struct tune_candidate *ret);

/* Student's t below which this share (0.5 to 1) lies; `freedom` of 1 or more. */
double tune_t(double share, size_t freedom);

/*
 * The mean gain (a logarithm) of `count` rounds out of at most `rounds`, and its interval, where
 * `settings` are tried.
 */
struct tune_interval {
	double mean, low, high; /* low, high are NAN for fewer than two rounds */
};

struct tune_interval tune_interval(const double *gains, size_t count, size_t settings,
				   size_t rounds);

enum tune_verdict {
	TUNE_OPEN, /* another round may tell */
	TUNE_PROVEN,
	TUNE_NOT_PROVEN,
	TUNE_NO_WORTH, /* it cannot gain TUNE_WORTH */
	TUNE_DIED, /* a run with it did not come to its end */
	TUNE_UNCHANGED, /* it could not be set */
};

/* is_over: no more rounds will be run. */
enum tune_verdict tune_judge(const double *gains, size_t count, size_t settings, size_t rounds,
			     bool is_over);

/* Names in JSON. */
extern const char *const tune_verdict_ids[];
extern const char *const tune_choice_ids[];
