/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/predict/replay.h"

#include <math.h>
#include <stdlib.h>

/* Times measured with PyTorch, used where the run does not show them. */
#define FORK_NS   8e6   /* time to start a worker process */
#define BOOT_NS   1e7   /* time from a worker's start to its first load */
#define RESUME_NS 1.5e6 /* time to start an epoch in workers that already run */
#define PASS_NS   3e5   /* time to send a batch on and to receive it */
#define STILL_NS  5e7   /* a worker whose first load came at least this late was still starting */
/* ending W workers takes W + FIRST_END times as long as ending one that is not the first */
#define FIRST_END 2.5
#define END_NS    3e6   /* time to end a worker that is not the first */

/* Returns true if the epoch keeps the workers of the epoch before, unlike in the run. */
static bool is_kept(const struct trace *t, const struct replay_setup *setup, size_t epoch)
{
	return epoch > 0 && t->restarts && !setup->restarts;
}

static double sampled_ns(const struct replay_setup *setup, const struct trace_epoch *e)
{
	return isnan(e->sample_ns) ? setup->unseen_sampling * e->setup_ns : e->sample_ns;
}

static bool starts_others(const struct trace *t, const struct replay_setup *setup, size_t epoch)
{
	return setup->workers != t->workers && (!epoch || setup->restarts);
}

/* Returns true if the run does not show how long worker processes take to start and to end. */
static bool starts_processes(const struct trace *t, const struct replay_setup *setup)
{
	return !t->workers || (t->is_thread && setup->workers != t->workers);
}

/* Returns how long after setup_ns a worker is ready. Workers are forked one after the other. */
static double ready_ns(const struct trace *t, const struct replay_setup *setup, size_t epoch,
		       size_t worker)
{
	const struct trace_epoch *e = &t->epochs[epoch];
	double starts_ns = e->setup_ns - sampled_ns(setup, e);
	bool is_new = starts_processes(t, setup);
	double fork_ns = is_new ? FORK_NS : starts_ns / t->workers;
	double boot_ns = is_new ? BOOT_NS : isnan(e->boot_ns) ? e->start_ns : e->boot_ns;

	return fmax(0, boot_ns - fork_ns * ((double)setup->workers - (double)worker - 1));
}

double replay_load_ns(const struct trace *t, const struct replay_setup *setup, size_t at,
		      size_t worker)
{
	double ns = (double)t->load_ns[at] * setup->load_factor;

	if (t->workers && !setup->workers)
		ns *= setup->own_load;
	if (setup->slow == REPLAY_SLOW_INDEX)
		worker = t->worker[at] < 0 ? SIZE_MAX : (size_t)t->worker[at];
	if (setup->slow != REPLAY_SLOW_NONE && worker < t->factor_count)
		ns *= t->factors[worker];
	return ns;
}

static double lag_ns(const struct trace *t, const struct replay_setup *setup, size_t at,
		     size_t epoch, size_t ordinal)
{
	if (starts_others(t, setup, epoch)) {
		if (ordinal < (size_t)setup->workers)
			return ready_ns(t, setup, epoch, ordinal) - ready_ns(t, setup, epoch, 0);
		if (ordinal < (size_t)t->workers)
			return t->usual_lag_ns;
	}
	if (ordinal < (size_t)setup->workers && is_kept(t, setup, epoch))
		return fmin(t->usual_lag_ns, (double)t->lag_ns[at]);
	return (double)t->lag_ns[at];
}

double replay_until_loaded_ns(const struct trace *t, const struct replay_setup *setup, size_t at,
			      size_t worker, size_t epoch, size_t ordinal)
{
	double load_ns = replay_load_ns(t, setup, at, worker);

	if (is_kept(t, setup, epoch) && ordinal < (size_t)t->workers)
		load_ns *= t->kept_factor;
	return lag_ns(t, setup, at, epoch, ordinal) + load_ns;
}

static struct trace_epoch unsampled(const struct trace *t, const struct replay_setup *setup,
				    size_t epoch)
{
	struct trace_epoch e = t->epochs[epoch];

	e.setup_ns -= sampled_ns(setup, &e);
	if (!setup->workers)
		return (struct trace_epoch){.begin = e.begin,
					    .setup_ns = t->workers ? 0 : e.setup_ns,
					    .stop_ns = t->workers ? 0 : e.stop_ns};
	if (starts_others(t, setup, epoch))
		e.start_ns = ready_ns(t, setup, epoch, 0);
	if (starts_processes(t, setup)) {
		e.setup_ns += setup->restarts || !epoch ? FORK_NS * setup->workers : RESUME_NS;
		e.stop_ns += setup->restarts ? END_NS * (setup->workers + FIRST_END) : 0;
		return e;
	}
	if (is_kept(t, setup, epoch)) {
		e.setup_ns = fmin(e.setup_ns, RESUME_NS);
		e.start_ns = fmin(e.start_ns, t->usual_lag_ns);
	} else if (t->restarts) {
		e.setup_ns *= (double)setup->workers / t->workers;
	}
	if (t->restarts && !setup->restarts)
		e.stop_ns = 0;
	else if (t->restarts)
		e.stop_ns *= (setup->workers + FIRST_END) / (t->workers + FIRST_END);
	return e;
}

struct trace_epoch replay_epoch(const struct trace *t, const struct replay_setup *setup,
				size_t epoch)
{
	const double sample_ns = sampled_ns(setup, &t->epochs[epoch]);
	const double gone_ns = sample_ns * (1 - setup->sampling_factor);
	struct trace_epoch e = unsampled(t, setup, epoch);

	e.setup_ns += sample_ns - gone_ns;
	/* Workers start while samples are chosen: less sampling hides less of their start. */
	if (gone_ns > 0 && setup->workers && t->workers && !is_kept(t, setup, epoch) &&
	    (!epoch || setup->restarts))
		e.start_ns = e.start_ns >= STILL_NS ? e.start_ns + gone_ns
						    : fmax(e.start_ns, fmin(BOOT_NS, gone_ns));
	return e;
}

static double fetch_left(const struct trace *t, const struct replay_setup *setup)
{
	return setup->fetch_factor * (t->fetch_waits ? setup->load_factor : 1);
}

double replay_handover_ns(const struct trace *t, const struct replay_setup *setup, size_t at)
{
	double ns = (double)t->handover_ns[at], sample_ns = fmin(t->sample_ns, ns);
	double fetch_ns = fmin(t->fetch_ns, ns - sample_ns), rest_ns = ns - sample_ns - fetch_ns;

	sample_ns *= setup->sampling_factor;
	if (!setup->workers)
		return sample_ns + (t->workers ? 0 : rest_ns);
	if (!t->workers)
		return sample_ns + PASS_NS * setup->handover_factor;
	return sample_ns + (rest_ns + fetch_ns * fetch_left(t, setup)) * setup->handover_factor;
}

double replay_latency_ns(const struct trace *t, const struct replay_setup *setup, size_t at)
{
	double ns = (double)t->latency_ns[at];
	/* The latency of a late batch may include fetching its tensors' descriptors. */
	double asked_ns = t->fetch_ns + t->sample_ns - (double)t->handover_ns[at];
	double fetch_ns = fmin(fmax(0, asked_ns), ns);

	if (!setup->workers)
		return 0;
	if (!t->workers)
		return PASS_NS * setup->handover_factor;
	return (ns - fetch_ns * (1 - fetch_left(t, setup))) * setup->handover_factor;
}

double replay_receive_ns(const struct trace *t, const struct replay_setup *setup)
{
	double fetch_ns = fmin(t->fetch_ns, t->receive_ns);

	return (t->receive_ns - fetch_ns * (1 - fetch_left(t, setup))) * setup->handover_factor;
}

/* Loads of one worker. A pool's first queue has all loads; its other queues use only free_ns. */
struct queue {
	double free_ns;
	size_t first, next, count;
};

struct replay {
	const struct trace *trace;
	const struct replay_setup *setup;
	size_t workers, prefetch;
	struct queue *queues;
	double *end_ns;                  /* ends of loads: `ring` entries a queue */
	size_t ring;
	size_t epoch, ahead, begin, end; /* `ahead`: next batch to load; [begin, end): the epoch */
	double now_ns, wait_ns;
};

/* Returns (at + 1) % count. A division would take most of a replay's time. */
static size_t next(size_t at, size_t count)
{
	return at + 1 < count ? at + 1 : 0;
}

static size_t find_free(const struct replay *r)
{
	size_t best = 0;

	for (size_t w = 1; w < r->workers; w++)
		if (r->queues[w].free_ns < r->queues[best].free_ns)
			best = w;
	return best;
}

/* Assigns a load to this worker or, in a pool, to the worker that is free first. */
static void assign(struct replay *r, size_t worker)
{
	struct queue *queue = &r->queues[r->setup->is_pooled ? 0 : worker];
	size_t at = r->ahead;
	double *free_ns;

	if (at == r->end)
		return;
	r->ahead++;
	if (r->setup->is_pooled)
		worker = find_free(r);
	free_ns = &r->queues[worker].free_ns;
	*free_ns =
		fmax(*free_ns, r->now_ns) +
		replay_until_loaded_ns(r->trace, r->setup, at, worker, r->epoch, at - r->begin);
	r->end_ns[(size_t)(queue - r->queues) * r->ring + queue->next] = *free_ns;
	queue->next = next(queue->next, r->ring);
	queue->count++;
}

/* Assigns the worker a load or, if as_dealt, loads to their owners until one has a full queue. */
static void dispatch(struct replay *r, size_t worker)
{
	if (!replay_is_dealt(r->trace, r->setup)) {
		assign(r, worker);
		return;
	}
	while (r->ahead < r->end) {
		worker = replay_owner(r->trace, r->ahead);
		if (r->queues[worker].count == r->prefetch)
			break;
		assign(r, worker);
	}
}

static size_t find_first(const struct replay *r)
{
	double best_ns = INFINITY;
	size_t best = 0;

	for (size_t w = 0; w < r->workers; w++) {
		double ns = r->end_ns[w * r->ring + r->queues[w].first];

		if (r->queues[w].count && ns < best_ns) {
			best_ns = ns;
			best = w;
		}
	}
	return best;
}

static double take(struct replay *r, size_t worker)
{
	struct queue *queue = &r->queues[worker];
	double end_ns = r->end_ns[worker * r->ring + queue->first];

	queue->first = next(queue->first, r->ring);
	queue->count--;
	return end_ns;
}

static void start_epoch(struct replay *r, const struct trace_epoch *e)
{
	r->now_ns += e->setup_ns;
	r->wait_ns += r->epoch ? e->setup_ns : 0;
	for (size_t i = 0; i < r->workers; i++)
		r->queues[i].free_ns = r->now_ns + e->start_ns;
	/* In a short epoch some workers get no load. */
	for (size_t i = 0; i < r->workers * r->prefetch && r->ahead < r->end; i++)
		dispatch(r, i % r->workers);
}

/* Replays an epoch. Sets *begin_ns to the run's first delivery, at which the run's time begins. */
static void run_epoch(struct replay *r, double *begin_ns)
{
	const struct trace *t = r->trace;
	double end_ns, out_ns;
	size_t at, worker, turn = 0;

	for (at = r->begin; at < r->end; at++, turn = next(turn, r->workers)) {
		worker = r->setup->is_pooled           ? 0
			 : !r->setup->in_order         ? find_first(r)
			 : replay_is_dealt(t, r->setup) ? replay_owner(t, at)
							: turn;
		end_ns = r->workers ? take(r, worker)
				    : r->now_ns + replay_load_ns(t, r->setup, at, SIZE_MAX);
		out_ns = fmax(r->now_ns, end_ns + replay_latency_ns(t, r->setup, at)) +
			 replay_handover_ns(t, r->setup, at);
		if (at)
			r->wait_ns += out_ns - r->now_ns;
		else
			*begin_ns = out_ns;
		r->now_ns = out_ns;
		if (r->workers)
			dispatch(r, worker);
		r->now_ns += (double)t->compute_ns[at];
	}
}

static struct replay_result run(struct replay *r)
{
	const struct trace *t = r->trace;
	double begin_ns = 0, time_ns;

	for (r->epoch = 0; r->epoch < t->epoch_count; r->epoch++) {
		struct trace_epoch e = replay_epoch(t, r->setup, r->epoch);
		bool is_last = r->epoch + 1 == t->epoch_count;

		r->ahead = r->begin = e.begin;
		r->end = is_last ? t->count : t->epochs[r->epoch + 1].begin;
		start_epoch(r, &e);
		run_epoch(r, &begin_ns);
		r->now_ns += is_last ? 0 : e.stop_ns;
		r->wait_ns += is_last ? 0 : e.stop_ns;
	}
	time_ns = r->now_ns - begin_ns;
	if (!(time_ns > 0))
		return (struct replay_result){NAN, NAN};
	return (struct replay_result){(double)t->count / time_ns * NS_PER_S, r->wait_ns / time_ns};
}

struct replay_result replay_run(const struct trace *trace, const struct replay_setup *setup)
{
	struct replay replay = {.trace = trace, .setup = setup};
	struct replay_result result = {NAN, NAN};
	size_t slots;

	if (!trace->count || setup->workers < 0)
		return result;
	replay.workers = (size_t)setup->workers;
	replay.prefetch = setup->prefetch_factor > 0 ? (size_t)setup->prefetch_factor : 1;
	slots = replay.workers * replay.prefetch;
	if (slots > REPLAY_SLOTS)
		return result;
	replay.ring = setup->is_pooled ? slots : replay.prefetch;
	replay.queues = calloc(replay.workers + 1, sizeof(*replay.queues));
	replay.end_ns = calloc(slots + 1, sizeof(*replay.end_ns));
	if (replay.queues && replay.end_ns)
		result = run(&replay);
	free(replay.queues);
	free(replay.end_ns);
	return result;
}
