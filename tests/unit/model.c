/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define MS      1e6
#define WORKERS 64

struct batch_series series;
struct finding finding;
struct diagnosis diagnosis;
static unsigned seed = 1;
static int burst_left;

double model_random_share(void)
{
	return (double)rand_r(&seed) / RAND_MAX;
}

static double load_of(const struct model *m, int epoch, int i)
{
	double ms = m->load * (1 + m->spread * (2 * model_random_share() - 1));

	if (m->slow_factor > 0 && i % m->workers == m->slow_worker)
		ms *= m->slow_factor;
	if (m->rare_share > 0 && model_random_share() < m->rare_share)
		ms *= m->rare_factor;
	if (m->every && i % m->every == m->every - 1)
		ms *= m->rare_factor;
	if (m->burst && !burst_left && model_random_share() < 0.005)
		burst_left = 12;
	if (burst_left) {
		burst_left--;
		ms *= 8;
	}
	return epoch == 0 && m->cold_factor > 0 ? ms * m->cold_factor : ms;
}

void model_run(const struct model *m)
{
	series_init(&series);
	series.workers = m->workers;
	series.prefetch_factor = m->prefetch;
	series.in_order = 1;
	series.cores = m->cores > 0 ? m->cores : NAN;
	series.main_cores = m->main_cores;
	series.other_cores = m->other_cores;
	series.share = (struct share){.cores = series.cores, .all = series.cores};
	if (m->other_cores > 0)
		series.share.neighbours[series.share.count++] = (struct share_neighbour){
			false, pow(1.25, -m->other_nice), m->other_cores, m->other_cores};
	for (int epoch = 0; epoch < m->epochs; epoch++) {
		double idle[WORKERS], *end = calloc((size_t)m->batches, sizeof(*end));
		double *load = calloc((size_t)m->batches, sizeof(*load)), now = 0, out = 0;
		int given = 0, window = m->workers * m->prefetch;

		for (int w = 0; w < m->workers; w++)
			idle[w] = m->start;
		for (int i = 0; i < m->batches; i++) {
			struct batch_row row = BATCH_ROW_UNKNOWN;
			double request = now;

			if (!m->workers) {
				load[i] = load_of(m, epoch, i);
				end[i] = now + load[i];
			}
			for (; m->workers && given < m->batches && given < i + window; given++) {
				double *at = &idle[given % m->workers];

				load[given] = load_of(m, epoch, given);
				*at = (*at > out || given < window ? *at : out) + load[given];
				end[given] = *at;
			}
			now = (end[i] > now ? end[i] : now) + (m->workers ? m->delivery : 0);
			if (m->workers)
				row.handover_ns = (int64_t)(m->delivery * MS);
			row.epoch = epoch;
			row.batch = i;
			row.wait_ns = (int64_t)((now - request) * MS);
			row.compute_ns = (int64_t)(m->compute * MS);
			if (m->pause_every && i % m->pause_every == m->pause_every - 1)
				row.compute_ns += (int64_t)(2000 * MS);
			row.load_ns = (int64_t)(load[i] * MS);
			if (m->cpu_share > 0)
				row.load_cpu_ns = (int64_t)(load[i] * m->cpu_share * MS);
			row.worker = m->workers ? i % m->workers : -1;
			row.qdepth = 0;
			for (int k = i + 1; k < given; k++)
				row.qdepth += end[k] <= request;
			if (!m->hide_readiness)
				row.head_ready = m->workers && end[i] <= request;
			out = now;
			now += (double)row.compute_ns / MS;
			cr_assert_eq(series_append(&series, &row), 0);
		}
		free(end);
		free(load);
	}
}

void model_diagnose(const struct model *m)
{
	model_run(m);
	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, NULL, &diagnosis), 0);
}

double model_truth(const struct model *m)
{
	double rate;

	model_run(m);
	stall_judge(&series, &finding);
	rate = (double)finding.steady_count / finding.steady_ns * 1e9;
	series_done(&series);
	return rate;
}
const struct model HEALTHY = {
	.workers = 4,
	.prefetch = 2,
	.epochs = 1,
	.batches = 600,
	.load = 200,
	.spread = 0.2,
	.compute = 100,
	.delivery = 0.5,
};
