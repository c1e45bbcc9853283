/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/account/stall.h"

#include <math.h>

#include "analysis/statistics/stats.h"
#include "dlprof/event.h"

#define HIGH_FROM         300 /* confidence is high with at least this many batches */
#define MEDIUM_FROM       100
#define TRIM_SHARE        0.005
#define UNKNOWN_WORKERS   8 /* number of workers to assume if it is unknown */
#define RECORDS_PER_BATCH 2 /* one of the consumer, one of a worker */
/* a step waits for the GPU if it takes more than this many times the median step */
#define SYNC_FACTOR       5
#define SYNC_FEWEST       0.003
#define SYNC_MOST         0.20
#define DRAIN_BUSY        5.0
#define DRAIN_IDLE        3.5
/* the GPU's idle times are used if known for at least this share of the steady batches */
#define GPU_SEEN_LEAST    0.5
/* confidence is lower if the GPU's times are known for a smaller share of all batches */
#define GPU_SEEN_MOST     0.95
/* steps are said to become faster without workers only from this factor on */
#define FASTER_LEAST      1.05
/* a wait for cores may exceed the thread's time off the CPU by this factor, as clocks differ */
#define TIMES_DIFFER      1.25

struct sums {
	struct stats_moments load;
	double exposed_ns;
	double load_ns;
	double busy_ns;
	size_t busy_count;
	double demand_ns;
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
	if (wait_ns == UNKNOWN || compute_ns == UNKNOWN)
		return "no_step";
	return NULL;
}

bool stall_is_starved(int64_t wait_ns, int head_ready, double theta_ns)
{
	return head_ready != 1 && (double)wait_ns >= theta_ns;
}

const float *stall_waits(const struct batch_series *s, const struct finding *f)
{
	return f->by_gpu ? s->gpu_idle_ns : s->wait_ns;
}

double stall_demand_ns(const struct batch_series *s, const struct finding *f, size_t i)
{
	double masked_ns =
		f->by_gpu ? series_time(s->wait_ns, i) - series_time(s->gpu_idle_ns, i) : 0;

	return series_time(s->compute_ns, i) + masked_ns;
}

double stall_not_ready_ns(const struct batch_series *s, const struct finding *f, size_t i)
{
	double wait_ns = (double)stall_waits(s, f)[i], host_ns = (double)s->wait_ns[i];
	const uint8_t state = s->state[i];
	double received_ns;

	if (!(state & SERIES_STEADY) || !(wait_ns > 0))
		return 0;
	if (series_has(s->handover_ns, i))
		received_ns = (double)s->handover_ns[i];
	else if (state & SERIES_READY_KNOWN)
		received_ns = state & SERIES_READY ? host_ns : 0;
	else
		received_ns = state & SERIES_STARVED ? 0 : host_ns;
	return account_divide(s->workers, host_ns, received_ns, series_known(s->sample_ns, i))
		       .not_ready_ns *
	       (host_ns > 0 ? wait_ns / host_ns : 0);
}

static bool is_asynchronous(const struct batch_series *s)
{
	return s->synchronous == 0;
}

static void mark_steady(struct batch_series *s)
{
	struct series_place at = SERIES_BEGIN;

	while (series_next(s, &at)) {
		s->state[at.i] &= (uint8_t) ~(SERIES_STEADY | SERIES_STARVED);
		if (series_has(s->wait_ns, at.i) && series_has(s->compute_ns, at.i) &&
		    !is_start(s->workers, at.batch))
			s->state[at.i] |= SERIES_STEADY;
	}
}

/* Returns theta, the least wait that counts as starved; NAN: no step is known. */
static double theta(struct batch_series *s, double *ret_compute_median_ns)
{
	struct stats_column compute = series_column(s, s->compute_ns, SERIES_STEADY),
			    all = {s->compute_ns, NULL, s->count};

	mark_steady(s);
	*ret_compute_median_ns = s->compute_ns ? stats_median(&compute) : NAN;
	if (s->compute_ns && isnan(*ret_compute_median_ns))
		*ret_compute_median_ns = stats_median(&all);
	if (isnan(*ret_compute_median_ns))
		return NAN;
	return rint(fmax(DLPROF_STARVED_LEAST_NS,
			 *ret_compute_median_ns * DLPROF_STARVED_LEAST_PERCENT / 100));
}

int64_t stall_theta_ns(struct batch_series *series)
{
	double median_ns, theta_ns = theta(series, &median_ns);

	return isnan(theta_ns) ? UNKNOWN : llrint(theta_ns);
}

/* Decides whether the GPU's clock counts. If so, only batches with a GPU time are steady. */
static void choose_clock(struct batch_series *s, struct finding *f)
{
	size_t seen = 0, steady_count = 0, steady_seen = 0, i;

	for (i = 0; s->gpu_idle_ns && i < s->count; i++) {
		bool is_seen = series_has(s->wait_ns, i) && s->gpu_idle_ns[i] >= 0;

		if (is_seen && s->gpu_idle_ns[i] > s->wait_ns[i])
			s->gpu_idle_ns[i] = s->wait_ns[i];
		seen += is_seen;
		if (s->state[i] & SERIES_STEADY) {
			steady_count++;
			steady_seen += is_seen;
		}
	}
	f->gpu_share = s->count ? (double)seen / (double)s->count : 0;
	f->by_gpu = steady_count ? (double)steady_seen >= GPU_SEEN_LEAST * (double)steady_count
				 : seen && f->gpu_share >= GPU_SEEN_LEAST;
	if (!f->by_gpu)
		return;
	f->unseen_count = steady_count - steady_seen;
	for (i = 0; i < s->count; i++)
		if (!(s->gpu_idle_ns[i] >= 0))
			s->state[i] &= (uint8_t)~SERIES_STEADY;
}

static void count_epochs(const struct batch_series *s, struct finding *f)
{
	struct series_walk e = {0};

	while (series_walk_epochs(s, &e)) {
		const struct series_run *last = &s->runs[e.next - 1];
		const int64_t span =
			last->batch + (int64_t)(e.end - last->begin) - s->runs[e.run].batch;

		f->epoch_count++;
		/* Batches before the first one are not lost: the series may be a part of a run. */
		if (span > (int64_t)(e.end - e.begin))
			f->missing_count += (size_t)span - (e.end - e.begin);
	}
}

static void add_steady(struct batch_series *s, size_t i, struct finding *f, struct sums *sums)
{
	double wait_ns = series_time(stall_waits(s, f), i),
	       compute_ns = series_time(s->compute_ns, i);
	bool starved = !(s->state[i] & SERIES_READY) && wait_ns >= f->theta_ns;

	f->steady_count++;
	f->steady_ns += series_time(s->wait_ns, i) + compute_ns;
	f->wait_masked_ns += series_time(s->wait_ns, i) - wait_ns;
	sums->demand_ns += stall_demand_ns(s, f, i);
	if (series_has(s->gpu_busy_ns, i)) {
		sums->busy_ns += (double)s->gpu_busy_ns[i];
		sums->busy_count++;
	}
	if (s->state[i] & SERIES_READY_KNOWN)
		f->readiness_count++;

	if (starved) {
		s->state[i] |= SERIES_STARVED;
		f->starved_count++;
	}

	if (series_has(s->load_ns, i)) {
		stats_add(&sums->load, (double)s->load_ns[i]);
		sums->load_ns += (double)s->load_ns[i];
		if (starved)
			sums->exposed_ns += fmin(wait_ns, (double)s->load_ns[i]);
	}
}

static void add_batches(struct batch_series *s, struct finding *f, struct sums *sums)
{
	struct series_place at = SERIES_BEGIN;

	while (series_next(s, &at)) {
		f->wait_all_ns += series_time(s->wait_ns, at.i);
		f->compute_all_ns += series_time(s->compute_ns, at.i);
		if (s->state[at.i] & SERIES_STEADY)
			add_steady(s, at.i, f, sums);
		else if (is_start(s->workers, at.batch) && f->by_gpu && s->gpu_idle_ns[at.i] >= 0)
			f->wait_masked_ns +=
				series_time(s->wait_ns, at.i) - (double)s->gpu_idle_ns[at.i];
	}
}

static void set_ratios(const struct batch_series *s, struct finding *f)
{
	const struct stats_column starved = series_column(s, stall_waits(s, f), SERIES_STARVED);
	size_t trimmed = (size_t)ceil(TRIM_SHARE * (double)f->starved_count);
	double largest_ns = stats_sum_largest(&starved, trimmed);

	f->stall_ratio = f->account.ratio;
	f->trimmed_ratio =
		stats_ratio(fmax(f->account.wait_ns - largest_ns, 0), f->account.time_ns);
	f->gain_max = f->stall_ratio < 1 ? 1 / (1 - f->stall_ratio) : NAN;
}

/*
 * Returns how many times as fast steps would be if workers did not compete for cores; 1: hardly
 * faster. The training's thread had a core for main_share of the time in which it wanted one. It is
 * assumed to want one always, except in waits for unfinished batches. Its waits for cores are
 * divided between loads and other programs by their CPU time. The part of the loads is at most the
 * CPU time that they used.
 */
static double faster_alone(const struct batch_series *s, const struct finding *f)
{
	const double busy_ns = f->account.time_ns * (1 - f->account.share[ACCOUNT_NOT_READY]);
	const double cpu_ns = s->main_cores * f->account.time_ns;
	const double most_ns = busy_ns - cpu_ns;
	const double loads_ns = series_load_cpu_ns(s) * (double)s->count;
	const double others_ns = series_has_others(s) ? s->other_cores * f->account.time_ns : 0;
	const double by_loads = loads_ns / (loads_ns + others_ns);
	const double waited_ns = fmin(by_loads * cpu_ns * (1 / s->main_share - 1), loads_ns);
	double factor;

	if (f->by_gpu || !(s->workers > 0) || !(s->main_share > 0) ||
	    !(waited_ns < TIMES_DIFFER * most_ns))
		return 1;
	factor = 1 / (1 - fmin(waited_ns, most_ns) / busy_ns);
	return factor >= FASTER_LEAST ? factor : 1;
}

static void set_quantiles(const struct batch_series *s, const float *column, double *ret_p50_ns,
			  double *ret_p99_ns)
{
	const struct stats_column all = {column, NULL, s->count};
	struct stats_order order;

	*ret_p50_ns = *ret_p99_ns = NAN;
	if (!column)
		return;
	stats_order_init(&order, &all);
	*ret_p50_ns = stats_order_quantile(&order, 0.50);
	*ret_p99_ns = stats_order_quantile(&order, 0.99);
}

static void set_supply(const struct batch_series *s, struct finding *f, const struct sums *sums)
{
	double supply, demand;

	f->demand_mean_ns = stats_ratio(sums->demand_ns, (double)f->steady_count);
	if (is_asynchronous(s))
		f->demand_mean_ns = stats_ratio(sums->busy_ns, (double)sums->busy_count);
	f->taken_mean_ns = f->demand_mean_ns + series_elsewhere_mean_ns(s);
	if (!sums->load.count)
		return;
	f->load_mean_ns = sums->load.mean;
	f->load_cv = stats_cv(&sums->load);
	if (s->workers < 1 || !(sums->load.mean > 0) || !(f->taken_mean_ns > 0))
		return;
	supply = series_busy_workers(s) / sums->load.mean;
	demand = 1 / f->taken_mean_ns;
	f->rho = demand / supply;
	f->eta = stats_ratio((double)f->steady_count, f->steady_ns) / fmin(supply, demand);
}

static void set_drain(const struct batch_series *s, struct finding *f)
{
	struct stats_column compute = series_column(s, s->compute_ns, SERIES_STEADY);
	double edge_ns, share;
	size_t count = 0, above, i;
	struct stats_order order;

	if (!is_asynchronous(s) || f->by_gpu || !f->steady_count)
		return;
	edge_ns = SYNC_FACTOR * f->compute_median_ns;
	for (i = 0; i < s->count; i++)
		count += stats_takes(&compute, i) && (double)s->compute_ns[i] > edge_ns;
	share = (double)count / (double)f->steady_count;
	if (share < SYNC_FEWEST || share > SYNC_MOST)
		return;
	/* Sync steps are the `count` longest steps; their median is the middle of these. */
	above = f->steady_count - count;
	stats_order_init(&order, &compute);
	f->drain_ratio = (stats_order_rank(&order, above + (count - 1) / 2) +
			  stats_order_rank(&order, above + count / 2)) /
			 2 / (f->steady_ns / (double)f->steady_count);
}

static enum stall_gap find_gap(const struct batch_series *s, const struct finding *f)
{
	if (!s->count)
		return STALL_GAP_NO_BATCHES;
	if (!s->wait_ns)
		return STALL_GAP_WAIT;
	if (!s->compute_ns && s->count >= STALL_FEWEST)
		return STALL_GAP_COMPUTE;
	if (f->account.count < STALL_FEWEST || !(f->account.time_ns > 0))
		return STALL_GAP_FEW_BATCHES;
	if (f->lost_share > STALL_TOLERATED_LOSS)
		return STALL_GAP_LOSS;
	if (is_asynchronous(s) && !f->by_gpu &&
	    !(f->drain_ratio >= DRAIN_BUSY || f->drain_ratio <= DRAIN_IDLE))
		return STALL_GAP_ASYNCHRONOUS;
	return STALL_GAP_NONE;
}

static enum stall_confidence find_confidence(const struct batch_series *s, const struct finding *f)
{
	int level = f->account.count >= HIGH_FROM     ? STALL_CONFIDENCE_HIGH
		    : f->account.count >= MEDIUM_FROM ? STALL_CONFIDENCE_MEDIUM
					      : STALL_CONFIDENCE_LOW;

	if (s->workers != 0 && (double)f->readiness_count < 0.95 * (double)f->steady_count)
		level--;
	if (f->lost_share > 0.01)
		level--;
	if (f->by_gpu && f->gpu_share < GPU_SEEN_MOST)
		level--;
	/* No drain ratio was ever compared with hardware, so using one lowers the confidence. */
	if (!isnan(f->drain_ratio))
		level--;
	return level < STALL_CONFIDENCE_LOW ? STALL_CONFIDENCE_LOW : (enum stall_confidence)level;
}

static void decide(const struct batch_series *s, struct finding *f)
{
	f->gap = find_gap(s, f);
	f->verdict = STALL_VERDICT_INCOMPLETE;
	f->starved = false;
	if (f->gap != STALL_GAP_NONE)
		return;
	f->starved = f->stall_ratio >= STALL_MODERATE && !(f->drain_ratio >= DRAIN_BUSY);
	if (!f->starved)
		f->verdict = STALL_VERDICT_NOT;
	else if (f->stall_ratio < STALL_HIGH)
		f->verdict = STALL_VERDICT_MODERATELY;
	else
		f->verdict = STALL_VERDICT_HIGHLY;
	f->confidence = find_confidence(s, f);
}

/* Returns the share of lost records, by missing ordinals or by counted drops: the larger one. */
static double lost_share(const struct batch_series *s, const struct finding *f)
{
	double count = (double)s->count, lost = s->lost_count > 0 ? (double)s->lost_count : 0;
	double missing = (double)f->missing_count;

	if (!s->count)
		return lost > 0;
	return fmax(missing / (missing + count), lost / (lost + RECORDS_PER_BATCH * count));
}

void stall_judge(struct batch_series *series, struct finding *ret)
{
	struct sums sums = {0};

	*ret = (struct finding){
		.stall_ratio = NAN,
		.trimmed_ratio = NAN,
		.masked_share = NAN,
		.gain_max = NAN,
		.gain_alone = NAN,
		.drain_ratio = NAN,
		.demand_mean_ns = NAN,
		.taken_mean_ns = NAN,
		.load_mean_ns = NAN,
		.load_cv = NAN,
		.rho = NAN,
		.eta = NAN,
		.batch_count = series->count,
	};
	series->loading = series_find_loading(series);
	ret->theta_ns = theta(series, &ret->compute_median_ns);
	choose_clock(series, ret);
	count_epochs(series, ret);
	ret->lost_share = lost_share(series, ret);
	add_batches(series, ret, &sums);
	account_of_loader(series, ret->by_gpu, ret->theta_ns, &ret->own);
	ret->account = ret->own;
	ret->masked_share = 1 - stats_ratio(sums.exposed_ns, sums.load_ns);
	set_ratios(series, ret);
	set_supply(series, ret, &sums);
	ret->gain_alone = ret->gain_max * faster_alone(series, ret);
	set_drain(series, ret);
	set_quantiles(series, series->wait_ns, &ret->wait_p50_ns, &ret->wait_p99_ns);
	set_quantiles(series, series->compute_ns, &ret->compute_p50_ns, &ret->compute_p99_ns);
	decide(series, ret);
}

void stall_judge_thread(const struct batch_series *series, const struct account *thread,
			double others_error_ns, struct finding *finding)
{
	finding->account = *thread;
	finding->others_error_ns = others_error_ns;
	set_ratios(series, finding);
	finding->gain_alone = finding->gain_max * faster_alone(series, finding);
	decide(series, finding);
}

void stall_doubt(struct finding *finding)
{
	finding->is_doubtful = true;
	finding->confidence = STALL_CONFIDENCE_LOW;
	if (stall_is_judged(finding->verdict))
		finding->verdict = STALL_VERDICT_IN_DOUBT;
}

const char *const stall_verdict_ids[STALL_VERDICT_MAX] = {
	[STALL_VERDICT_INCOMPLETE] = "incomplete",
	[STALL_VERDICT_NOT] = "not_input_bound",
	[STALL_VERDICT_MODERATELY] = "moderately_input_bound",
	[STALL_VERDICT_HIGHLY] = "highly_input_bound",
	[STALL_VERDICT_IN_DOUBT] = "in_doubt",
};

const char *const stall_gap_ids[STALL_GAP_MAX] = {
	[STALL_GAP_NO_BATCHES] = "no_batches",
	[STALL_GAP_WAIT] = "wait_not_observed",
	[STALL_GAP_COMPUTE] = "compute_not_observed",
	[STALL_GAP_FEW_BATCHES] = "few_batches",
	[STALL_GAP_LOSS] = "events_lost",
	[STALL_GAP_ASYNCHRONOUS] = "asynchronous",
};

const char *const stall_confidence_ids[STALL_CONFIDENCE_MAX] = {
	[STALL_CONFIDENCE_LOW] = "low",
	[STALL_CONFIDENCE_MEDIUM] = "medium",
	[STALL_CONFIDENCE_HIGH] = "high",
};
