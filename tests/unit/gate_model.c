/* SPDX-License-Identifier: Apache-2.0 */
#include "gate_model.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"

#define MS      1e6
#define STEP    (50 * MS)
#define WORKERS GATE_MODEL_WORKERS
#define WINDOW  (GATE_MODEL_WORKERS * GATE_MODEL_PREFETCH)

static uint64_t chance = 1;

void gate_model_seed(uint64_t seed)
{
	chance = seed;
}

static double uniform(void)
{
	return ((double)(stats_random(&chance) >> 11) + 0.5) / 9007199254740992.0;
}

double gate_model_normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Draws a lognormal number of mean 1 and standard deviation `spread`. */
static double lognormal(double spread)
{
	double sigma = sqrt(log1p(spread * spread));

	return exp(sigma * gate_model_normal() - sigma * sigma / 2);
}

struct loads {
	const struct gate_family *family;
	double sigma, state;
	int burst_left;
};

static double next_load(struct loads *loads)
{
	const struct gate_family *f = loads->family;
	double factor;

	if (f->tail > 0) {
		factor = pow(uniform(), -1 / f->tail) * (f->tail - 1) / f->tail;
	} else {
		loads->state = f->memory * loads->state +
			       sqrt(1 - f->memory * f->memory) * gate_model_normal() * loads->sigma;
		factor = exp(loads->state - loads->sigma * loads->sigma / 2);
	}
	if (f->burst && !loads->burst_left && uniform() < .005)
		loads->burst_left = 20;
	if (loads->burst_left) {
		loads->burst_left--;
		factor *= 3;
	}
	return factor;
}

/* The simulated time, ms, and the series of batches until then. */
struct clock {
	double now;
	struct batch_series series;
};

static void check(int r)
{
	if (r < 0)
		abort();
}

/* Adds an epoch, of batches in order and a window of p W; its workers are new ones. */
static void add_epoch(struct clock *clock, struct loads *loads, double load, int32_t epoch,
		      size_t count)
{
	const struct gate_family *f = loads->family;
	double finished[WORKERS], delivered[WINDOW];
	size_t i;

	for (i = 0; i < WORKERS; i++)
		finished[i] = clock->now;
	for (i = 0; i < WINDOW; i++)
		delivered[i] = clock->now;
	for (i = 0; i < count; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;
		double begin = fmax(finished[i % WORKERS], delivered[i % WINDOW]);
		double end = begin + load * next_load(loads);
		double receive = f->receive > 0 ? f->receive * lognormal(.5) : .3;
		double got = fmax(clock->now, end) + receive * MS;

		finished[i % WORKERS] = end;
		row.epoch = epoch;
		row.batch = (int32_t)i;
		row.wait_ns = (int64_t)(got - clock->now);
		row.handover_ns = (int64_t)(receive * MS);
		row.compute_ns = (int64_t)(STEP * (1 + .05 * gate_model_normal()));
		row.load_ns = (int64_t)(end - begin);
		row.head_ready = end <= clock->now;
		if (clock->series.first_ns == UNKNOWN)
			clock->series.first_ns = (int64_t)got;
		delivered[i % WINDOW] = got;
		clock->now = got + (double)row.compute_ns;
		check(series_append(&clock->series, &row));
	}
	clock->series.last_ns = (int64_t)clock->now;
}

static void make_iterator(struct clock *clock, const struct gate_family *family, int32_t epoch)
{
	double setup = family->restart * MS * (1 + .2 * gate_model_normal());
	double stop = family->restart / 3 * MS * (1 + .2 * gate_model_normal());
	struct series_epoch *before;

	if (!(family->restart > 0))
		return;
	if (epoch) {
		before = &clock->series.epochs[epoch - 1];
		before->stop_begin_ns = (int64_t)clock->now;
		before->stop_ns = (float)fmax(stop, 0);
		clock->now += fmax(stop, 0);
	}
	check(series_add_epoch(&clock->series,
			       &(struct series_epoch){.begin_ns = (int64_t)clock->now,
						      .stop_begin_ns = UNKNOWN,
						      .setup_ns = (float)fmax(setup, 0),
						      .stop_ns = NAN,
						      .epoch = epoch}));
	clock->now += fmax(setup, 0);
}

struct gate_sample gate_model_run(const struct gate_family *family, double rho, size_t count,
				  bool interval)
{
	size_t epochs = family->epochs ? family->epochs : 1, each = count / epochs, epoch;
	struct loads loads = {.family = family,
			      .sigma = sqrt(log1p(family->spread * family->spread))};
	struct diagnosis diagnosis = {.boot = {NAN, NAN, NAN, NAN}};
	double load = rho * WORKERS * STEP;
	struct clock clock = {.now = 0};
	struct gate_sample sample;
	struct finding finding;

	load *= 1 + family->drift * gate_model_normal();
	loads.state = loads.sigma * gate_model_normal();
	series_init(&clock.series);
	clock.series.workers = WORKERS;
	clock.series.prefetch_factor = GATE_MODEL_PREFETCH;
	clock.series.lost_count = family->lost;
	for (epoch = 0; epoch < epochs; epoch++) {
		make_iterator(&clock, family, (int32_t)epoch);
		add_epoch(&clock, &loads, load, (int32_t)epoch,
			  epoch + 1 < epochs ? each : count - each * (epochs - 1));
	}
	stall_judge(&clock.series, &finding);
	if (interval)
		check(boot_stall_ratio(&clock.series, &finding, &diagnosis.boot));
	gate_take(&clock.series, &finding, &diagnosis, &(struct load_times){0}, (double)count,
		  false, &sample);
	series_done(&clock.series);
	return sample;
}
