/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stall.c - two passes over a series: the median of compute, then the sums that it divides.
 */
#include "analysis/stall.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"

#define THETA_FLOOR_NS    2e6
#define THETA_SHARE       0.10
#define TRIM_SHARE        0.005
#define UNKNOWN_WORKERS   8 /* how many first deliveries to exclude then */
#define RECORDS_PER_BATCH 2 /* one of the consumer, one of the worker */
#define FEWEST_EPOCHS     2 /* one start alone is no finding */

struct sums {
	struct stats_moments load;
	struct stats_moments compute;
	double exposed_ns;
	double load_ns;
	int64_t *scratch_ns; /* room for one value of each batch */
};

int64_t stall_start_count(int64_t workers)
{
	if (workers < 0)
		return UNKNOWN_WORKERS;
	return workers > 1 ? workers : 1;
}

static bool is_start(int64_t workers, int64_t batch)
{
	return batch < stall_start_count(workers);
}

const char *stall_excluded(int64_t workers, int64_t batch, int64_t wait_ns, int64_t compute_ns)
{
	if (is_start(workers, batch))
		return "epoch_start";
	if (wait_ns == SERIES_UNKNOWN || compute_ns == SERIES_UNKNOWN)
		return "no_step";
	return NULL;
}

bool stall_is_starved(int64_t wait_ns, int head_ready, double theta_ns)
{
	return head_ready != 1 && (double)wait_ns >= theta_ns;
}

static int64_t at(const int64_t *column, size_t i)
{
	return column ? column[i] : SERIES_UNKNOWN;
}

static double known(int64_t value)
{
	return value == SERIES_UNKNOWN ? 0 : (double)value;
}

static bool is_steady(const struct batch_series *s, size_t i)
{
	return !stall_excluded(s->workers, s->batch[i], at(s->wait_ns, i), at(s->compute_ns, i));
}

/* NAN: no steady batch. */
static int theta(const struct batch_series *s, double *ret_theta_ns)
{
	int64_t *compute;
	size_t i, n = 0;

	*ret_theta_ns = NAN;
	if (!s->count)
		return 0;
	compute = malloc(s->count * sizeof(*compute));
	if (!compute)
		return -ENOMEM;
	for (i = 0; i < s->count; i++)
		if (is_steady(s, i))
			compute[n++] = s->compute_ns[i];
	if (n)
		*ret_theta_ns = rint(fmax(THETA_FLOOR_NS, THETA_SHARE * stats_median(compute, n)));
	free(compute);
	return 0;
}

int64_t stall_theta_ns(const struct batch_series *series)
{
	double theta_ns;

	if (theta(series, &theta_ns) < 0 || isnan(theta_ns))
		return SERIES_UNKNOWN;
	return llrint(theta_ns);
}

/* Epochs, and how many deliveries of each have no record. */
static void count_epochs(const struct batch_series *s, struct finding *f)
{
	size_t begin = 0, i;

	for (i = 1; i <= s->count; i++) {
		int64_t last = s->batch[i - 1];

		if (i < s->count && s->epoch[i] == s->epoch[begin])
			continue;
		f->epoch_count++;
		/* A part of an epoch may be judged alone: its first batch is where it begins. */
		if (last - s->batch[begin] + 1 > (int64_t)(i - begin))
			f->missing_count += (size_t)(last - s->batch[begin] + 1) - (i - begin);
		begin = i;
	}
}

static void add_steady(const struct batch_series *s, size_t i, struct finding *f, struct sums *sums)
{
	double wait_ns = known(at(s->wait_ns, i)), compute_ns = known(at(s->compute_ns, i));
	int64_t load_ns = at(s->load_ns, i);
	bool starved = stall_is_starved(s->wait_ns[i], s->head_ready[i], f->theta_ns);

	f->steady_count++;
	f->steady_ns += wait_ns + compute_ns;
	stats_add(&sums->compute, compute_ns);
	if (s->head_ready[i] >= 0)
		f->readiness_count++;

	if (starved) {
		sums->scratch_ns[f->starved_count++] = s->wait_ns[i];
		f->wait_starved_ns += wait_ns;
	} else if (s->head_ready[i] == 1) {
		f->wait_ready_ns += wait_ns;
	} else {
		f->wait_short_ns += wait_ns;
	}

	if (load_ns != SERIES_UNKNOWN) {
		stats_add(&sums->load, (double)load_ns);
		sums->load_ns += (double)load_ns;
		if (starved)
			sums->exposed_ns += fmin(wait_ns, (double)load_ns);
	}
}

static void add_batches(const struct batch_series *s, struct finding *f, struct sums *sums)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		double wait_ns = known(at(s->wait_ns, i));

		f->wait_all_ns += wait_ns;
		f->compute_all_ns += known(at(s->compute_ns, i));
		if (is_steady(s, i))
			add_steady(s, i, f, sums);
		else if (is_start(s->workers, s->batch[i]))
			f->wait_start_ns += wait_ns;
		else
			f->wait_short_ns += wait_ns;
	}
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

static void set_ratios(struct finding *f, struct sums *sums)
{
	size_t trimmed = (size_t)ceil(TRIM_SHARE * (double)f->starved_count);
	double largest_ns = stats_sum_largest(sums->scratch_ns, f->starved_count, trimmed);

	f->stall_ratio = ratio(f->wait_starved_ns, f->steady_ns);
	f->trimmed_ratio = ratio(f->wait_starved_ns - largest_ns, f->steady_ns);
	if (f->readiness_count)
		f->delivery_ratio = ratio(f->wait_ready_ns, f->steady_ns);
	f->epoch_start_ratio = ratio(f->wait_start_ns, f->wait_all_ns + f->compute_all_ns);
	f->masked_share = 1 - ratio(sums->exposed_ns, sums->load_ns);
	if (f->stall_ratio < 1)
		f->gain_max = 1 / (1 - f->stall_ratio);
}

static void set_quantiles(const struct batch_series *s, const int64_t *column, int64_t *scratch,
			  double *ret_p50_ns, double *ret_p99_ns)
{
	size_t i, n = 0;

	for (i = 0; column && i < s->count; i++)
		if (column[i] != SERIES_UNKNOWN)
			scratch[n++] = column[i];
	*ret_p50_ns = n ? (double)stats_quantile(scratch, n, 0.50) : NAN;
	*ret_p99_ns = n ? (double)stats_quantile(scratch, n, 0.99) : NAN;
}

static void set_supply(const struct batch_series *s, struct finding *f, const struct sums *sums)
{
	double supply, demand;

	if (!sums->load.count)
		return;
	f->load_mean_ns = sums->load.mean;
	f->load_cv = stats_cv(&sums->load);
	if (s->workers < 1 || !(sums->load.mean > 0) || !(sums->compute.mean > 0))
		return;
	supply = s->workers / sums->load.mean;
	demand = 1 / sums->compute.mean;
	f->rho = demand / supply;
	f->eta = ratio((double)f->steady_count, f->steady_ns) / fmin(supply, demand);
}

static enum stall_gap find_gap(const struct batch_series *s, const struct finding *f)
{
	if (!s->count)
		return STALL_GAP_NO_BATCHES;
	if (!s->wait_ns)
		return STALL_GAP_WAIT;
	if (!s->compute_ns)
		return STALL_GAP_COMPUTE;
	if (f->steady_count < STALL_FEWEST_STEADY || !(f->steady_ns > 0))
		return STALL_GAP_FEW_BATCHES;
	if (f->lost_share > STALL_TOLERATED_LOSS)
		return STALL_GAP_LOSS;
	return STALL_GAP_NONE;
}

static enum stall_cause find_cause(const struct batch_series *s, const struct finding *f)
{
	if (f->starved)
		return s->workers == 0 ? STALL_CAUSE_SINGLE_PROCESS : STALL_CAUSE_UNKNOWN;
	if (f->stall_ratio >= STALL_MODERATE)
		return STALL_CAUSE_ISOLATED_STALL;
	if (f->epoch_start_ratio >= STALL_MODERATE && f->epoch_count >= FEWEST_EPOCHS)
		return STALL_CAUSE_EPOCH_START;
	if (f->delivery_ratio >= STALL_MODERATE)
		return STALL_CAUSE_DELIVERY;
	return STALL_CAUSE_NONE;
}

static enum stall_confidence find_confidence(const struct batch_series *s, const struct finding *f)
{
	int level = f->steady_count >= 300   ? STALL_CONFIDENCE_HIGH
		    : f->steady_count >= 100 ? STALL_CONFIDENCE_MEDIUM
					     : STALL_CONFIDENCE_LOW;

	if (s->workers != 0 && (double)f->readiness_count < 0.95 * (double)f->steady_count)
		level--;
	if (f->lost_share > 0.01)
		level--;
	return level < STALL_CONFIDENCE_LOW ? STALL_CONFIDENCE_LOW : (enum stall_confidence)level;
}

static void decide(const struct batch_series *s, struct finding *f)
{
	f->gap = find_gap(s, f);
	if (f->gap != STALL_GAP_NONE)
		return;
	f->starved = f->stall_ratio >= STALL_MODERATE && f->trimmed_ratio >= STALL_TRIMMED;
	if (!f->starved)
		f->verdict = STALL_VERDICT_NOT;
	else if (f->stall_ratio < STALL_HIGH)
		f->verdict = STALL_VERDICT_MODERATELY;
	else
		f->verdict = STALL_VERDICT_HIGHLY;
	f->cause = find_cause(s, f);
	f->confidence = find_confidence(s, f);
}

/*
 * What is lost is known twice over: as ordinals that no record has, and as a count of dropped
 * records, which may be of any kind. The larger share is believed.
 */
static double lost_share(const struct batch_series *s, const struct finding *f)
{
	double count = (double)s->count, lost = s->lost_count > 0 ? (double)s->lost_count : 0;
	double missing = (double)f->missing_count;

	if (!s->count)
		return lost > 0;
	return fmax(missing / (missing + count), lost / (lost + RECORDS_PER_BATCH * count));
}

int stall_judge(const struct batch_series *series, struct finding *ret)
{
	struct sums sums = {0};
	int r;

	*ret = (struct finding){
		.stall_ratio = NAN,
		.trimmed_ratio = NAN,
		.delivery_ratio = NAN,
		.epoch_start_ratio = NAN,
		.masked_share = NAN,
		.gain_max = NAN,
		.load_mean_ns = NAN,
		.load_cv = NAN,
		.rho = NAN,
		.eta = NAN,
		.batch_count = series->count,
	};
	r = theta(series, &ret->theta_ns);
	if (r < 0)
		return r;
	sums.scratch_ns = malloc((series->count + 1) * sizeof(*sums.scratch_ns));
	if (!sums.scratch_ns)
		return -ENOMEM;

	count_epochs(series, ret);
	ret->lost_share = lost_share(series, ret);
	add_batches(series, ret, &sums);
	set_ratios(ret, &sums);
	set_supply(series, ret, &sums);
	set_quantiles(series, series->wait_ns, sums.scratch_ns, &ret->wait_p50_ns,
		      &ret->wait_p99_ns);
	set_quantiles(series, series->compute_ns, sums.scratch_ns, &ret->compute_p50_ns,
		      &ret->compute_p99_ns);
	decide(series, ret);
	free(sums.scratch_ns);
	return 0;
}

const char *stall_verdict_id(enum stall_verdict verdict)
{
	static const char *const ids[] = {
		[STALL_VERDICT_INCOMPLETE] = "incomplete",
		[STALL_VERDICT_NOT] = "not_input_bound",
		[STALL_VERDICT_MODERATELY] = "moderately_input_bound",
		[STALL_VERDICT_HIGHLY] = "highly_input_bound",
	};

	return ids[verdict];
}

const char *stall_gap_id(enum stall_gap gap)
{
	static const char *const ids[STALL_GAP_MAX] = {
		[STALL_GAP_NO_BATCHES] = "no_batches",
		[STALL_GAP_WAIT] = "wait_not_observed",
		[STALL_GAP_COMPUTE] = "compute_not_observed",
		[STALL_GAP_FEW_BATCHES] = "few_batches",
		[STALL_GAP_LOSS] = "events_lost",
	};

	return ids[gap];
}

const char *stall_cause_id(enum stall_cause cause)
{
	static const char *const ids[STALL_CAUSE_MAX] = {
		[STALL_CAUSE_NONE] = "none",
		[STALL_CAUSE_ISOLATED_STALL] = "isolated_stall",
		[STALL_CAUSE_EPOCH_START] = "epoch_start",
		[STALL_CAUSE_DELIVERY] = "delivery",
		[STALL_CAUSE_SINGLE_PROCESS] = "single_process",
	};

	return ids[cause];
}

const char *stall_confidence_id(enum stall_confidence confidence)
{
	static const char *const ids[STALL_CONFIDENCE_MAX] = {
		[STALL_CONFIDENCE_LOW] = "low",
		[STALL_CONFIDENCE_MEDIUM] = "medium",
		[STALL_CONFIDENCE_HIGH] = "high",
	};

	return ids[confidence];
}
