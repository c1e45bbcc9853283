/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/predict/crowd.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/account/share.h"

#define LEAST_WORK 0.15 /* threads that together use fewer cores than this do not compete */
#define SAME_PACE  0.99
#define MOST_LOOKS 4e6
#define GOLDEN     0.6180339887
#define NOBODY     SIZE_MAX
#define TAKEN      (-1.0) /* value of end_ns: the batch was received before its turn */

enum phase {
	IDLE,
	WORKING, /* needs a core until the crowd's work_ns reaches the thread's `until` */
	BLOCKED, /* needs no core until the crowd's now_ns reaches the thread's `until` */
};

struct hand {
	enum phase phase;
	double until;
	double work_ns; /* core time that the thread needs after being blocked */
	double blocked_ns;
	size_t at;
	size_t head, count; /* this worker's first entry in `queue`, and its number of entries */
	size_t given;       /* number of loads assigned to this worker and not yet delivered */
};

struct crowd {
	const struct trace *trace;
	const struct replay_setup *setup;
	size_t workers, prefetch;
	struct hand *hands; /* the workers, then the training */
	size_t *queue;      /* `prefetch` entries for each worker; not used in a pool */
	size_t begun;       /* in a pool: all batches before this index have begun to load */
	/* share of a core that each thread gets: paces[i] while i workers work,
	 * paces[workers + 1 + i] while i workers and the training work */
	double *paces;
	struct {
		double end_ns; /* INFINITY: the load has not ended */
		size_t owner;
		size_t ended; /* in entry k: the batch whose load was the k-th to end */
	} * batches;
	size_t finished_count, taken_count;
	size_t epoch, ahead, begin, end;
	size_t working;
	bool training_works;
	double now_ns, work_ns; /* work_ns: core time so far of a thread that always works */
	double wait_ns;
};

static void begin_work(struct crowd *c, struct hand *hand, double ns)
{
	bool is_training = hand == &c->hands[c->workers];
	double part = is_training ? c->trace->step_cpu : c->trace->load_cpu;
	double got = is_training ? c->trace->step_got : c->trace->load_got;

	double blocked_ns = fmax(0, ns * (1 - part / got));
	/* Loads use the CPU at different points of their time, lest all threads do so at once. */
	double before = part > 0 ? (double)hand->at * GOLDEN - floor((double)hand->at * GOLDEN) : 1;

	hand->work_ns = ns * part;
	hand->blocked_ns = blocked_ns * (1 - before);
	hand->phase = BLOCKED;
	hand->until = c->now_ns + blocked_ns * before;
}

static void work(struct crowd *c, struct hand *hand)
{
	hand->phase = WORKING;
	hand->until = c->work_ns + hand->work_ns;
	hand->work_ns = 0;
	c->working += hand != &c->hands[c->workers];
	c->training_works |= hand == &c->hands[c->workers];
}

static void block(struct crowd *c, struct hand *hand, double until_ns)
{
	if (hand->phase == WORKING) {
		c->working -= hand != &c->hands[c->workers];
		c->training_works &= hand != &c->hands[c->workers];
	}
	hand->phase = BLOCKED;
	hand->until = until_ns;
}

/* Takes the next load of the worker, or of the pool. Returns false if there is none. */
static bool take_load(struct crowd *c, size_t worker)
{
	struct hand *hand = &c->hands[worker];

	if (c->setup->is_pooled) {
		if (c->begun == c->ahead)
			return false;
		hand->at = c->begun++;
		return true;
	}
	if (!hand->count)
		return false;
	hand->at = c->queue[worker * c->prefetch + hand->head];
	hand->head = hand->head + 1 < c->prefetch ? hand->head + 1 : 0;
	hand->count--;
	return true;
}

static void begin_load(struct crowd *c, size_t worker)
{
	struct hand *hand = &c->hands[worker];

	if (hand->phase != IDLE || !take_load(c, worker))
		return;
	begin_work(c, hand,
		   replay_until_loaded_ns(c->trace, c->setup, hand->at, worker, c->epoch,
					  hand->at - c->begin));
}

/* Adds a load to the pool's queue. A worker that has nothing to do begins it at once. */
static void assign_pool(struct crowd *c)
{
	if (c->ahead == c->end)
		return;
	c->ahead++;
	for (size_t i = 0; i < c->workers && c->begun < c->ahead; i++)
		begin_load(c, i);
}

static void assign(struct crowd *c, size_t worker)
{
	struct hand *hand = &c->hands[worker];
	size_t place = (hand->head + hand->count) % c->prefetch;

	if (c->ahead == c->end)
		return;
	c->batches[c->ahead - c->begin].owner = worker;
	c->queue[worker * c->prefetch + place] = c->ahead++;
	hand->count++;
	hand->given++;
	begin_load(c, worker);
}

/* Assigns the worker a load or, if as_dealt, loads to their owners until one has a full queue. */
static void dispatch(struct crowd *c, size_t worker)
{
	if (c->setup->is_pooled) {
		assign_pool(c);
		return;
	}
	if (!replay_is_dealt(c->trace, c->setup)) {
		assign(c, worker);
		return;
	}
	while (c->ahead < c->end) {
		worker = replay_owner(c->trace, c->ahead);
		if (c->hands[worker].given == c->prefetch)
			break;
		assign(c, worker);
	}
}

static void end_load(struct crowd *c, size_t worker)
{
	struct hand *hand = &c->hands[worker];

	if (hand->at != NOBODY) {
		c->batches[hand->at - c->begin].end_ns = c->now_ns;
		c->batches[c->finished_count++].ended = hand->at;
	}
	hand->phase = IDLE;
	begin_load(c, worker);
}

/* Moves the time to the next event. Returns the event's thread; NULL: `limit_ns` came first. */
static struct hand *advance(struct crowd *c, double limit_ns)
{
	double pace = c->paces[c->working + (c->training_works ? c->workers + 1 : 0)];
	double work_ns = INFINITY, time_ns = limit_ns, at_ns;
	struct hand *worker = NULL, *blocked = NULL;

	for (size_t i = 0; i <= c->workers; i++) {
		struct hand *hand = &c->hands[i];

		if (hand->phase == WORKING && hand->until < work_ns) {
			work_ns = hand->until;
			worker = hand;
		} else if (hand->phase == BLOCKED && hand->until < time_ns) {
			time_ns = hand->until;
			blocked = hand;
		}
	}
	if (!worker && !blocked && limit_ns == INFINITY)
		return NULL;
	at_ns = worker ? c->now_ns + fmax(0, work_ns - c->work_ns) / pace : INFINITY;
	if (at_ns <= time_ns) {
		c->now_ns = at_ns;
		c->work_ns = fmax(c->work_ns, work_ns);
		return worker;
	}
	if (time_ns > c->now_ns) {
		c->work_ns += (time_ns - c->now_ns) * pace;
		c->now_ns = time_ns;
	}
	return blocked;
}

/* Moves a thread to its next phase. Returns true if the training's step has ended. */
static bool go_on(struct crowd *c, struct hand *hand)
{
	if (hand->phase == WORKING)
		block(c, hand, c->now_ns + hand->blocked_ns);
	else if (hand->work_ns > 0)
		work(c, hand);
	else if (hand == &c->hands[c->workers])
		return true;
	else
		end_load(c, (size_t)(hand - c->hands));
	return false;
}

static void pass(struct crowd *c, double until_ns)
{
	struct hand *hand;

	do
		hand = advance(c, until_ns);
	while (hand && !go_on(c, hand));
}

static void spend(struct crowd *c, double ns)
{
	struct hand *training = &c->hands[c->workers];

	training->at++;
	begin_work(c, training, ns);
	pass(c, INFINITY);
	training->phase = IDLE;
}

static bool await_any(struct crowd *c)
{
	struct hand *hand;

	while (c->taken_count == c->finished_count) {
		hand = advance(c, INFINITY);
		if (!hand)
			return false;
		go_on(c, hand);
	}
	return true;
}

/* Takes a batch. Receives the batches that came before it, too, which then cost no time later. */
static size_t take_next(struct crowd *c, size_t ordinal)
{
	size_t wanted = c->begin + ordinal, at;
	double end_ns;

	if (c->setup->in_order && c->batches[ordinal].end_ns == TAKEN)
		return wanted;
	for (;;) {
		if (!await_any(c))
			return wanted;
		at = c->batches[c->taken_count++].ended;
		/* A known receive_ns is spent below, so it is not waited for as latency, too. */
		end_ns = c->batches[at - c->begin].end_ns +
			 (c->trace->receive_ns ? c->trace->usual_lag_ns
					       : replay_latency_ns(c->trace, c->setup, at));
		if (end_ns > c->now_ns)
			pass(c, end_ns);
		spend(c, c->trace->receive_ns ? replay_receive_ns(c->trace, c->setup)
					      : replay_handover_ns(c->trace, c->setup, at));
		if (!c->setup->in_order || at == wanted)
			return at;
		c->batches[at - c->begin].end_ns = TAKEN;
	}
}

static void start_epoch(struct crowd *c, const struct trace_epoch *e)
{
	size_t i, slots = c->workers * c->prefetch;

	c->now_ns += e->setup_ns;
	c->wait_ns += c->epoch ? e->setup_ns : 0;
	c->ahead = c->begun = c->begin = e->begin;
	c->end = c->epoch + 1 < c->trace->epoch_count ? c->trace->epochs[c->epoch + 1].begin
						      : c->trace->count;
	c->finished_count = c->taken_count = c->working = 0;
	c->training_works = false;
	for (i = c->begin; i < c->end; i++)
		c->batches[i - c->begin].end_ns = INFINITY;
	for (i = 0; i <= c->workers; i++)
		c->hands[i] = (struct hand){.phase = i < c->workers ? BLOCKED : IDLE,
					    .until = c->now_ns + e->start_ns,
					    .at = i < c->workers ? NOBODY : 0};
	for (i = 0; i < slots && c->ahead < c->end; i++)
		dispatch(c, i % c->workers);
}

static struct replay_result run(struct crowd *c)
{
	const struct trace *t = c->trace;
	double begin_ns = 0, asked_ns, time_ns;

	for (c->epoch = 0; c->epoch < t->epoch_count; c->epoch++) {
		struct trace_epoch e = replay_epoch(t, c->setup, c->epoch);
		bool is_last = c->epoch + 1 == t->epoch_count;
		size_t ordinal, at;

		start_epoch(c, &e);
		for (ordinal = 0; ordinal < c->end - c->begin; ordinal++) {
			asked_ns = c->now_ns;
			at = take_next(c, ordinal);
			if (t->receive_ns)
				spend(c, t->sample_ns * c->setup->sampling_factor);
			if (c->begin + ordinal)
				c->wait_ns += c->now_ns - asked_ns;
			else
				begin_ns = c->now_ns;
			c->hands[c->batches[at - c->begin].owner].given--;
			dispatch(c, c->batches[at - c->begin].owner);
			spend(c, (double)t->compute_ns[at]);
		}
		c->now_ns += is_last ? 0 : e.stop_ns;
		c->wait_ns += is_last ? 0 : e.stop_ns;
	}
	time_ns = c->now_ns - begin_ns;
	if (!(time_ns > 0))
		return (struct replay_result){NAN, NAN};
	return (struct replay_result){(double)t->count / time_ns * NS_PER_S, c->wait_ns / time_ns};
}

/* Without workers, loads and steps alternate and never compete for cores. */
static struct replay_result run_alone(const struct trace *t, const struct replay_setup *setup,
				      double want)
{
	double load = share_of_thread(&t->share, 1, want);
	double step = share_of_thread(&t->share, t->step_threads, want);
	struct replay_result result = replay_run(t, setup);
	double loads_ns = 0, steps_ns = 0, time_ns, wait_ns;

	for (size_t i = 0; i < t->count; i++) {
		loads_ns += i ? replay_load_ns(t, setup, i, SIZE_MAX) : 0;
		steps_ns += (double)t->compute_ns[i];
	}
	time_ns = (double)t->count / result.batches_per_s * NS_PER_S;
	loads_ns *= t->load_cpu * (1 / load - 1 / t->load_got);
	steps_ns *= t->step_cpu * (1 / step - 1 / t->step_got);
	wait_ns = result.stall_ratio * time_ns + loads_ns;
	time_ns += loads_ns + steps_ns;
	return (struct replay_result){(double)t->count / time_ns * NS_PER_S, wait_ns / time_ns};
}

bool crowd_matters(const struct trace *t, const struct replay_setup *setup)
{
	double most = setup->workers + t->step_threads;
	double work = t->load_cpu * fmax(setup->workers, 1) + t->step_cpu * t->step_threads;

	/* advance() looks at all workers at each event, so more workers slow the replay down. */
	if ((double)t->count * (setup->workers + 1) > MOST_LOOKS)
		return false;
	if (t->receive_ns > 0 && setup->workers > 0)
		return true;
	return t->share.all > 0 && work >= LEAST_WORK &&
	       (share_of_thread(&t->share, most, 1) < SAME_PACE ||
		fmin(t->load_got, t->step_got) < SAME_PACE);
}

double crowd_most(const struct trace *t, const struct replay_setup *setup)
{
	double threads = setup->workers + t->step_threads, work_ns = 0;

	for (size_t i = 0; i < t->count; i++)
		work_ns += (double)t->load_ns[i] * setup->load_factor * t->load_cpu +
			   (double)t->compute_ns[i] * t->step_cpu * t->step_threads;
	if (!(work_ns > 0) || !(t->share.all > 0))
		return INFINITY;
	return share_of_thread(&t->share, threads, 1) * threads * (double)t->count / work_ns *
	       NS_PER_S;
}

static struct replay_result run_crowd(const struct trace *trace, const struct replay_setup *setup,
				      double want)
{
	struct crowd c = {.trace = trace,
			  .setup = setup,
			  .workers = (size_t)setup->workers,
			  .prefetch =
				  setup->prefetch_factor > 0 ? (size_t)setup->prefetch_factor : 1};
	struct replay_result result = {NAN, NAN};

	if (!setup->workers)
		return run_alone(trace, setup, want);
	if (!trace->count || c.workers * c.prefetch > REPLAY_SLOTS)
		return result;
	c.hands = calloc(c.workers + 1, sizeof(*c.hands));
	c.queue = calloc(c.workers * c.prefetch, sizeof(*c.queue));
	c.paces = calloc(2 * (c.workers + 1), sizeof(*c.paces));
	c.batches = calloc(trace->count, sizeof(*c.batches));
	if (c.hands && c.queue && c.paces && c.batches) {
		for (size_t i = 0; i <= c.workers; i++) {
			c.paces[i] = share_of_thread(&trace->share, (double)i, want);
			c.paces[c.workers + 1 + i] = share_of_thread(
				&trace->share, (double)i + trace->step_threads, want);
		}
		result = run(&c);
	}
	free(c.hands);
	free(c.queue);
	free(c.paces);
	free(c.batches);
	return result;
}

struct replay_result crowd_replay(const struct trace *trace, const struct replay_setup *setup,
				  double want)
{
	return crowd_matters(trace, setup) ? run_crowd(trace, setup, want)
					   : replay_run(trace, setup);
}
