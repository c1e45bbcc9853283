/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/account/account.h"

#include <errno.h>
#include <math.h>

/* a thread's waits may exceed its training time by this share, as clocks and rounding differ */
#define SLACK 1e-3

struct view {
	const struct batch_series *series;
	double theta_ns;
	bool by_gpu;
	bool knows_readiness;
};

static struct view look(const struct batch_series *s, bool by_gpu, double theta_ns)
{
	struct view view = {s, theta_ns, by_gpu, s->handover_ns != NULL};

	for (size_t i = 0; i < s->count && !view.knows_readiness; i++)
		view.knows_readiness = s->state[i] & SERIES_READY_KNOWN;
	return view;
}

/* Returns the share of a wait in which its batch was already finished; NAN: unknown. */
static double received_share(const struct view *view, size_t i)
{
	const struct batch_series *s = view->series;
	double wait_ns = (double)s->wait_ns[i];

	if (series_has(s->handover_ns, i))
		return wait_ns > 0 ? (double)s->handover_ns[i] / wait_ns : 0;
	if (s->state[i] & SERIES_READY_KNOWN)
		return s->state[i] & SERIES_READY ? 1 : 0;
	return view->knows_readiness ? wait_ns < view->theta_ns : NAN;
}

struct account_wait account_divide(int64_t workers, double wait_ns, double handover_ns,
				   double sample_ns)
{
	const double sampled_ns = isnan(sample_ns) ? 0 : fmin(sample_ns, wait_ns);
	struct account_wait parts = {.sampling_ns = isnan(sample_ns) ? NAN : sampled_ns};

	/* Without workers the whole wait is the load. With workers the sampler runs after the batch
	 * was received, so the hand-over includes the sampler's time. */
	if (workers == 0)
		handover_ns = 0;
	else
		handover_ns = isnan(handover_ns) ? NAN : fmax(handover_ns - sampled_ns, 0);
	parts.receiving_ns = handover_ns;
	parts.not_ready_ns = wait_ns - sampled_ns - handover_ns;
	return parts;
}

/* Adds `ns` to a sum. The sum is NAN as long as nothing was added to it. */
static void add_known(double *sum_ns, double ns)
{
	*sum_ns = isnan(*sum_ns) ? ns : *sum_ns + ns;
}

static void add_batch(struct account *a, const struct view *view, const struct series_place *at,
		      bool is_outside)
{
	const struct batch_series *s = view->series;
	size_t i = at->i;
	double wait_ns = series_time(s->wait_ns, i), counted_ns = wait_ns, share;
	struct account_wait parts;

	if (view->by_gpu && !series_has(s->gpu_idle_ns, i)) {
		a->unseen_ns += series_time(s->compute_ns, i) + (is_outside ? 0 : wait_ns);
		return;
	}
	if (view->by_gpu)
		counted_ns = (double)s->gpu_idle_ns[i];
	a->step_ns += series_time(s->compute_ns, i);
	if (is_outside || !series_has(s->wait_ns, i))
		return;
	a->count++;
	a->step_ns += wait_ns - counted_ns;
	a->wait_ns += counted_ns;
	if (at->batch < account_start_count(s->workers)) {
		a->part_ns[ACCOUNT_EPOCH_START] += counted_ns;
		return;
	}
	parts = account_divide(s->workers, wait_ns, wait_ns * received_share(view, i),
			       series_known(s->sample_ns, i));
	share = wait_ns > 0 ? counted_ns / wait_ns : 0;
	a->part_ns[ACCOUNT_RECEIVING] += parts.receiving_ns * share;
	a->part_ns[ACCOUNT_NOT_READY] += parts.not_ready_ns * share;
	if (!isnan(parts.sampling_ns))
		add_known(&a->part_ns[ACCOUNT_SAMPLING], parts.sampling_ns * share);
}

static void add_epoch(struct account *a, enum account_part part, double ns)
{
	if (!(ns > 0))
		return;
	a->part_ns[part] += ns;
	a->wait_ns += ns;
}

static bool is_within(int64_t ns, const struct account_span *span)
{
	return ns >= span->begin_ns && ns < span->end_ns;
}

static bool counts_start(const struct batch_series *s, size_t i, const struct account_span *span)
{
	if (span->begin_ns != UNKNOWN && s->epochs[i].begin_ns != UNKNOWN)
		return is_within(s->epochs[i].begin_ns, span);
	return i > 0 || s->is_part;
}

static bool counts_end(const struct batch_series *s, size_t i, const struct account_span *span)
{
	if (span->end_ns != UNKNOWN && s->epochs[i].stop_begin_ns != UNKNOWN)
		return is_within(s->epochs[i].stop_begin_ns, span);
	return i + 1 < s->epoch_count;
}

static bool begins_after(const struct batch_series *s, size_t i, const struct account_span *span)
{
	return span->end_ns != UNKNOWN && s->epochs[i].begin_ns != UNKNOWN &&
	       s->epochs[i].begin_ns >= span->end_ns;
}

static void add_epochs(struct account *a, const struct batch_series *s,
		       const struct account_span *span)
{
	for (size_t i = 0; i < s->epoch_count; i++) {
		const double setup_ns = (double)s->epochs[i].setup_ns;
		const double sample_ns = (double)s->epochs[i].sample_ns;

		if (counts_start(s, i, span)) {
			add_epoch(a, ACCOUNT_EPOCH_START, setup_ns);
			if (sample_ns >= 0 && setup_ns >= 0)
				add_known(&a->start_sampling_ns, fmin(sample_ns, setup_ns));
		} else if (i == 0 && !begins_after(s, i, span) && setup_ns >= 0) {
			add_known(&a->startup_ns, setup_ns);
		}
		if (counts_end(s, i, span))
			add_epoch(a, ACCOUNT_EPOCH_END, (double)s->epochs[i].stop_ns);
	}
}

static struct account_span own_span(const struct batch_series *s)
{
	/* A part of a run has no span of its own, as the training goes on before and after it. */
	return s->is_part ? (struct account_span){UNKNOWN, UNKNOWN}
			  : (struct account_span){s->first_ns, s->last_ns};
}

struct account_restart account_restart(const struct batch_series *s, size_t *next, int32_t epoch)
{
	const struct account_span own = own_span(s);
	struct account_restart restart = {0};

	for (; *next < s->epoch_count && s->epochs[*next].epoch <= epoch; ++*next) {
		const struct series_epoch *e = &s->epochs[*next];

		if (counts_start(s, *next, &own) && e->setup_ns > 0)
			restart.start_ns += (double)e->setup_ns;
		if (*next > 0 && counts_end(s, *next - 1, &own) && e[-1].stop_ns > 0)
			restart.end_ns += (double)e[-1].stop_ns;
	}
	return restart;
}

void account_add(struct account *thread, const struct batch_series *s, bool by_gpu, double theta_ns,
		 const struct account_span *span)
{
	/* A loader's first wait is start-up, unless another loader gave the run's first batch. */
	bool is_inside =
		s->is_part || (span->begin_ns != UNKNOWN && s->first_ns > span->begin_ns);
	const struct view view = look(s, by_gpu, theta_ns);
	struct series_place at = SERIES_BEGIN;

	bool is_cut = s->tail_begin_ns != UNKNOWN && span->end_ns != UNKNOWN &&
		      s->tail_begin_ns >= span->end_ns;

	while (series_next(s, &at))
		add_batch(thread, &view, &at,
			  (at.i == 0 && !is_inside) || (at.i + 1 == s->count && is_cut));
	add_epochs(thread, s, span);
	if (!is_inside && s->count && series_has(s->wait_ns, 0))
		add_known(&thread->startup_ns, (double)s->wait_ns[0]);
}

static void set_ratio(struct account *a)
{
	a->time_ns = a->wait_ns + a->step_ns;
	a->ratio = a->time_ns > 0 ? a->wait_ns / a->time_ns : NAN;
	for (int part = 0; part < ACCOUNT_PART_MAX; part++)
		a->share[part] = a->time_ns > 0 ? a->part_ns[part] / a->time_ns : NAN;
}

int account_close(struct account *thread, const struct account_span *span)
{
	double time_ns = (double)(span->end_ns - span->begin_ns) - thread->unseen_ns;

	if (span->begin_ns == UNKNOWN || span->end_ns == UNKNOWN ||
	    !(thread->wait_ns <= time_ns * (1 + SLACK)))
		return -ERANGE;
	thread->step_ns = fmax(time_ns - thread->wait_ns, 0);
	set_ratio(thread);
	return 0;
}

void account_of_loader(const struct batch_series *s, bool by_gpu, double theta_ns,
		       struct account *ret)
{
	const struct account_span own = own_span(s);

	*ret = ACCOUNT_EMPTY;
	account_add(ret, s, by_gpu, theta_ns, &own);
	ret->step_ns += s->elsewhere_ns;
	set_ratio(ret);
	if (s->wait_ns && s->compute_ns)
		return;
	ret->ratio = NAN;
	for (int part = 0; part < ACCOUNT_PART_MAX; part++)
		ret->share[part] = NAN;
}

const char *const account_part_names[ACCOUNT_PART_MAX] = {
	[ACCOUNT_NOT_READY] = "not_ready",
	[ACCOUNT_RECEIVING] = "receiving",
	[ACCOUNT_SAMPLING] = "sampling",
	[ACCOUNT_EPOCH_START] = "epoch_start",
	[ACCOUNT_EPOCH_END] = "epoch_end",
};
