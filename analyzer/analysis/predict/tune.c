/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/predict/tune.h"

#include <math.h>
#include <stdlib.h>

#define ROOM	   0.8  /* workers and batches may use at most this share of the free memory */
/* two numbers of workers are alike, and only one is tried, if they differ by at most this share */
#define NEAR	   0.25
#define CONFIDENCE 0.95
#define HALVINGS   100
#define FARTHEST   1e6

const char *const tune_verdict_ids[] = {
	[TUNE_OPEN] = "open",		[TUNE_PROVEN] = "proven",
	[TUNE_NOT_PROVEN] = "not_proven", [TUNE_NO_WORTH] = "no_gain",
	[TUNE_DIED] = "died",		[TUNE_UNCHANGED] = "not_set",
};

const char *const tune_choice_ids[] = {
	[TUNE_TRY] = "try",		[TUNE_NO_GAIN] = "no_gain_predicted",
	[TUNE_NO_MEMORY] = "no_memory", [TUNE_NO_SHM] = "no_shm",
	[TUNE_NO_SETTING] = "no_setting", [TUNE_NO_TIME] = "others_first",
};

static bool set(struct tune_candidate *ret, enum dlprof_set key, int32_t before, int32_t value)
{
	ret->key = key;
	ret->before = before;
	ret->value = value;
	return true;
}

/* Finds the setting that a prediction changes. Returns false if it changes none. */
static bool set_of(const struct whatif *whatif, int id, struct tune_candidate *ret)
{
	const struct replay_setup *now = &whatif->setups[WHATIF_BASELINE];
	const struct replay_setup *then = &whatif->setups[id];

	switch (id) {
	case WHATIF_PREFETCH_X4:
		return set(ret, DLPROF_SET_PREFETCH, now->prefetch_factor, then->prefetch_factor);
	case WHATIF_IN_ORDER_FALSE:
		return set(ret, DLPROF_SET_IN_ORDER, 1, 0);
	case WHATIF_PERSISTENT:
		return set(ret, DLPROF_SET_PERSISTENT, 0, 1);
	case WHATIF_SHARING:
		return set(ret, DLPROF_SET_SHARING, 0, 1);
	case WHATIF_WORKERS_X2:
	case WHATIF_MORE_WORKERS:
	case WHATIF_USE_WORKERS:
	case WHATIF_FEWER_WORKERS:
	case WHATIF_NO_WORKERS:
		return set(ret, DLPROF_SET_WORKERS, now->workers, then->workers);
	default:
		/* Of other predictions, only wishes may change the number of workers. */
		return id >= WHATIF_MAX && now->workers != then->workers &&
		       set(ret, DLPROF_SET_WORKERS, now->workers, then->workers);
	}
}

static enum tune_choice choose(const struct whatif *whatif, int id, const struct tune_room *room,
			       struct tune_candidate *candidate)
{
	const struct replay_setup *now = &whatif->setups[WHATIF_BASELINE];
	const struct replay_setup *then = &whatif->setups[id];
	const double workers = fmax(0, (double)then->workers - (double)now->workers);
	const double ahead = (double)then->workers * (double)then->prefetch_factor;
	/* What workers bring beside other programs is hard to predict, but easy to measure. */
	const bool is_open = whatif->shares_cores && whatif->ratio >= TUNE_PROMISE &&
			     candidate->key == DLPROF_SET_WORKERS &&
			     candidate->high >= TUNE_PROMISE;

	if (!is_open && (!(candidate->gain >= TUNE_WORTH) ||
			 (!(candidate->low > 0) && !candidate->may_be_shared &&
			  candidate->gain < TUNE_PROMISE)))
		return TUNE_NO_GAIN;
	if (candidate->key == DLPROF_SET_IN_ORDER && room->lacks_order)
		return TUNE_NO_SETTING;
	candidate->need_bytes = workers * room->worker_bytes;
	if (candidate->need_bytes > ROOM * room->free_bytes)
		return TUNE_NO_MEMORY;
	candidate->need_bytes = ahead * room->batch_bytes;
	if (candidate->need_bytes > ROOM * room->shm_bytes)
		return TUNE_NO_SHM;
	return TUNE_TRY;
}

static bool is_listed(const struct tune_candidate *list, size_t count,
		      const struct tune_candidate *candidate)
{
	for (size_t i = 0; i < count; i++) {
		double near = candidate->key == DLPROF_SET_WORKERS ? NEAR * list[i].value : 0;

		if (list[i].key == candidate->key &&
		    (list[i].value == candidate->value ||
		     abs(list[i].value - candidate->value) < near))
			return true;
	}
	return false;
}

/* Sorts settings to try before others, and each kind by falling gain, unknown gains first. */
static int by_promise(const void *left, const void *right)
{
	const struct tune_candidate *a = left, *b = right;
	double gains[] = {isnan(a->gain) ? INFINITY : a->gain, isnan(b->gain) ? INFINITY : b->gain};

	if ((a->choice == TUNE_TRY) != (b->choice == TUNE_TRY))
		return a->choice == TUNE_TRY ? -1 : 1;
	return (gains[0] < gains[1]) - (gains[0] > gains[1]);
}

size_t tune_choose(const struct whatif *whatif, const struct tune_room *room,
		   bool too_many_threads, struct tune_candidate *ret)
{
	const int end = whatif->gap == WHATIF_GAP_NONE ? WHATIF_MAX + (int)whatif->wish_count : 0;
	size_t count = 0;

	if (too_many_threads)
		ret[count++] = (struct tune_candidate){.key = DLPROF_SET_THREADS,
						       .before = -1,
						       .value = 1,
						       .gain = NAN,
						       .low = NAN,
						       .high = NAN};
	for (int id = WHATIF_BASELINE + 1; id < end && count < TUNE_LISTED; id++) {
		struct whatif_gain gain = whatif_gain_of(whatif, id);
		struct tune_candidate *one = &ret[count];

		*one = (struct tune_candidate){
			.gain = gain.gain, .low = gain.low, .high = gain.high};
		if (isnan(whatif->batches_per_s[id]) || !set_of(whatif, id, one) ||
		    is_listed(ret, count, one))
			continue;
		one->may_be_shared = whatif_may_be_shared(whatif, id);
		one->choice = choose(whatif, id, room, one);
		count++;
	}
	qsort(ret, count, sizeof(*ret), by_promise);
	for (size_t i = TUNE_TRIED; i < count; i++)
		if (ret[i].choice == TUNE_TRY)
			ret[i].choice = TUNE_NO_TIME;
	return count;
}

/* Returns P(-t < T < t) for Student's t: Abramowitz and Stegun (1964), 26.7.3 and 26.7.4. */
static double between(double t, size_t freedom)
{
	const double angle = atan(t / sqrt((double)freedom)), c = cos(angle), s = sin(angle);
	double term = freedom % 2 ? c : 1, sum = 0;

	for (size_t i = freedom % 2 ? 3 : 2; i <= freedom; i += 2) {
		sum += term;
		term *= c * c * (double)(i - 1) / (double)i;
	}
	return freedom % 2 ? 2 / M_PI * (angle + s * sum) : s * sum;
}

double tune_t(double share, size_t freedom)
{
	double low = 0, high = FARTHEST;

	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (0.5 + between(middle, freedom) / 2 < share)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static struct tune_interval interval(const double *gains, size_t count, double confidence)
{
	const struct stats_moments moments = stats_moments_of(gains, count);
	struct tune_interval ret = {NAN, NAN, NAN};
	double half, shared;

	if (!count)
		return ret;
	ret.mean = moments.mean;
	if (count < 2)
		return ret;
	shared = sqrt((4 * (double)count - 1) / (3 * (double)count - 1));
	half = shared * tune_t(0.5 + confidence / 2, count - 1) * stats_deviation(&moments) /
	       sqrt((double)count);
	ret.low = ret.mean - half;
	ret.high = ret.mean + half;
	return ret;
}

struct tune_interval tune_interval(const double *gains, size_t count, size_t settings,
				   size_t rounds)
{
	const size_t looks = (settings ? settings : 1) * (rounds > TUNE_LEAST ? 2 : 1);

	return interval(gains, count, 1 - (1 - CONFIDENCE) / (double)looks);
}

enum tune_verdict tune_judge(const double *gains, size_t count, size_t settings, size_t rounds,
			     bool is_over)
{
	bool is_last = is_over || count >= rounds;

	if ((count == TUNE_LEAST || (is_last && count > TUNE_LEAST)) &&
	    tune_interval(gains, count, settings, rounds).low > 0)
		return TUNE_PROVEN;
	if (count >= 2 && interval(gains, count, CONFIDENCE).high < log1p(TUNE_WORTH))
		return TUNE_NO_WORTH;
	return is_last ? TUNE_NOT_PROVEN : TUNE_OPEN;
}
