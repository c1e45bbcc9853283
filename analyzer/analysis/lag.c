/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/lag.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"

#define FEWEST       5   /* of each kind, to compare two kinds of batches */
#define SOON         0.25 /* of batches that were waited for: nothing held these up on their way */
#define MOST_SET_UP  ((size_t)1 << 25)
#define USUAL_LAG_NS 2e5

/* When each worker was free, and when its last batches were handed out: then it was sent others. */
struct walk {
	double *free_ns;  /* NAN: unknown */
	double *given_ns; /* as many for each worker as it may be ahead */
	size_t *turn;     /* the oldest of these */
	size_t workers, ahead;
	double now_ns;
};

static int walk_begin(struct walk *w, int32_t workers, int32_t prefetch_factor, size_t epochs)
{
	size_t ahead = (size_t)prefetch_factor;

	*w = (struct walk){.workers = workers > 0 ? (size_t)workers : 1, .ahead = ahead};
	/* All of it is set up anew for each epoch. */
	if (ahead > MOST_SET_UP / w->workers / (epochs + 1))
		w->ahead = 1;
	w->free_ns = calloc(w->workers, sizeof(*w->free_ns));
	w->given_ns = calloc(w->workers * w->ahead, sizeof(*w->given_ns));
	w->turn = calloc(w->workers, sizeof(*w->turn));
	return w->free_ns && w->given_ns && w->turn ? 0 : -ENOMEM;
}

static void walk_end(struct walk *w)
{
	free(w->free_ns);
	free(w->given_ns);
	free(w->turn);
}

static void start_epoch(struct walk *w, struct trace *t, struct trace_epoch *e, double wait_ns)
{
	double rest_ns = wait_ns - (double)t->load_ns[e->begin] - (double)t->handover_ns[e->begin];

	w->now_ns += e->setup_ns;
	e->start_ns = rest_ns > 0 ? rest_ns : 0;
	for (size_t i = 0; i < w->workers; i++) {
		w->free_ns[i] = w->now_ns + e->start_ns;
		w->turn[i] = 0;
	}
	for (size_t i = 0; i < w->workers * w->ahead; i++)
		w->given_ns[i] = w->now_ns;
}

static void pass_batch(struct walk *w, struct trace *t, size_t i, size_t worker,
		       const struct lag_input *input)
{
	double *given = &w->given_ns[worker * w->ahead + w->turn[worker]];
	double could_ns = w->free_ns[worker] < *given ? *given : w->free_ns[worker];
	double out_ns = w->now_ns + (double)input->wait_ns[i], end_ns = NAN;

	t->lag_ns[i] = NAN;
	if (!input->is_ready[i] && t->handover_ns[i] >= 0 && t->workers > 0) {
		end_ns = out_ns - (double)t->handover_ns[i];
		t->lag_ns[i] = (float)(end_ns - (double)t->load_ns[i] - could_ns);
		/* Stamps of two processes. */
		if (t->lag_ns[i] < 0)
			t->lag_ns[i] = 0;
	}
	/* Of one that was ready only that it was so by the time it was asked for. */
	w->free_ns[worker] = end_ns;
	*given = out_ns;
	w->turn[worker] = w->turn[worker] + 1 < w->ahead ? w->turn[worker] + 1 : 0;
	w->now_ns = out_ns + (double)t->compute_ns[i];
}

/* Of the values with `kind`; NULL: of all. */
static double quantile(const float *values, const uint8_t *kinds, uint8_t kind, size_t count,
		       double share, size_t *ret_count)
{
	const struct stats_column column = {values, kinds, count, UINT8_MAX, kind};
	struct stats_order order;

	stats_order_init(&order, &column);
	*ret_count = order.count;
	return stats_order_quantile(&order, share);
}

/*
 * Handing over a batch that was waited for takes longer than one that was there: the difference
 * passes in the worker and on the way, beside the training. It differs from batch to batch: a
 * worker that is busy with its next load may send the last one some milliseconds late.
 */
static void find_latency(struct trace *t, const struct lag_input *input)
{
	size_t late_count, ready_count, i;
	double late = quantile(t->handover_ns, input->is_ready, false, t->count, SOON, &late_count);
	double own = quantile(t->handover_ns, input->is_ready, true, t->count, 0.5, &ready_count);

	if (late_count >= FEWEST && ready_count >= FEWEST)
		own = fmin(own, late);
	else if (late_count >= FEWEST)
		own = fmin(fmax(late / 2, input->receive_ns), late);
	for (i = 0; i < t->count; i++) {
		t->latency_ns[i] = NAN;
		if (!input->is_ready[i] && t->handover_ns[i] >= 0 && t->workers > 0)
			t->latency_ns[i] = fmaxf(0, t->handover_ns[i] - (float)own);
	}
	late = quantile(t->latency_ns, NULL, 0, t->count, 0.5, &late_count);
	if (late_count < FEWEST)
		late = 0;
	for (i = 0; i < t->count; i++) {
		if (isnan(t->handover_ns[i]))
			t->handover_ns[i] = isnan(own) ? 0 : (float)own;
		else if (t->latency_ns[i] > 0)
			t->handover_ns[i] = (float)own;
		if (isnan(t->latency_ns[i]))
			t->latency_ns[i] = (float)late;
	}
}

/* The first loads of an epoch's workers. */
static void find_firsts(const struct trace *t, uint8_t *is_first)
{
	for (size_t i = 0; i < t->count; i++)
		is_first[i] = 0;
	for (size_t e = 0; e < t->epoch_count; e++)
		for (size_t i = t->epochs[e].begin;
		     i < t->count && i < t->epochs[e].begin + (size_t)t->workers; i++)
			is_first[i] = 1;
}

int lag_find(struct trace *t, int32_t prefetch_factor, const struct lag_input *input)
{
	uint8_t *is_first = malloc(t->count + 1);
	size_t e = 0, ordinal = 0, count, i;
	struct walk w;
	int r = walk_begin(&w, t->workers, prefetch_factor, t->epoch_count);

	if (r < 0 || !is_first) {
		r = -ENOMEM;
		goto out;
	}
	for (i = 0; i < t->count; i++, ordinal++) {
		int16_t worker = t->worker[i];

		if (e < t->epoch_count && t->epochs[e].begin == i) {
			w.now_ns += e ? t->epochs[e - 1].stop_ns : 0;
			start_epoch(&w, t, &t->epochs[e++], (double)input->wait_ns[i]);
			ordinal = 0;
		}
		pass_batch(&w, t, i,
			   worker >= 0 && (size_t)worker < w.workers ? (size_t)worker
								     : ordinal % w.workers,
			   input);
	}
	find_firsts(t, is_first);
	t->usual_lag_ns = quantile(t->lag_ns, is_first, 0, t->count, 0.5, &count);
	if (count < FEWEST || t->workers == 0)
		t->usual_lag_ns = USUAL_LAG_NS;
	for (i = 0; i < t->count; i++)
		if (isnan(t->lag_ns[i]))
			t->lag_ns[i] = (float)t->usual_lag_ns;
	find_latency(t, input);
out:
	free(is_first);
	walk_end(&w);
	return r;
}
