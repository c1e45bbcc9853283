/* SPDX-License-Identifier: Apache-2.0 */
/* Compares predictions of starts and of handing over with a loader simulated event by event. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/predict/take.h"
#include "analysis/predict/whatif.h"

#define MS 1e6

/* Times in ms. Workers are started one after the other, and messages may be late. */
struct loader {
	int workers, epochs, batches;
	double load, step;
	double fork, boot;      /* starting a worker, and from then until it loads */
	double end;             /* ending a worker; the first one takes 2.5 times that more */
	double receive, pickup; /* receiving a message at any time; taking the batch in its turn */
	double transit;         /* delay of one message of three */
	double first;           /* additional time of a worker's first load */
	bool kept;              /* workers stay from epoch to epoch */
	double sample;          /* choosing the samples of each batch that is handed out */
	double draw;            /* drawing all samples of an epoch, while its workers start */
	double tensors;         /* a batch's tensors; 0: two */
	double fetch;           /* asking for a batch's descriptors, while the next one is loaded */
	bool thread;            /* the worker is a thread of the training's process */
	bool pooled;            /* the worker that is free first takes the next load */
	double heavy;           /* additional time of each seventh load and the one after it */
};

static struct batch_series series;
static struct finding finding;
static struct whatif whatif;
static bool is_drawing_unseen; /* as in databases of versions before 14 */

struct task {
	double load, end, arrival;
	int worker;
	bool taken;
};

static int next_arrival(const struct task *tasks, int given)
{
	int best = -1;

	for (int i = 0; i < given; i++)
		if (!tasks[i].taken && (best < 0 || tasks[i].arrival < tasks[best].arrival))
			best = i;
	return best;
}

static void append(const struct loader *l, int epoch, int i, const struct task *task,
		   double request, double now)
{
	struct batch_row row = BATCH_ROW_UNKNOWN;
	double late = now - fmax(task->end, request);

	row.epoch = epoch;
	row.batch = i;
	row.wait_ns = (int64_t)((now - request) * MS);
	row.compute_ns = (int64_t)(l->step * MS);
	row.load_ns = (int64_t)(task->load * MS);
	row.handover_ns = (int64_t)(late * MS);
	if (l->sample > 0)
		row.sample_ns = (int64_t)(l->sample * MS);
	row.worker = task->worker;
	row.head_ready = task->end <= request;
	cr_assert_eq(series_append(&series, &row), 0);
}

static int free_first(const struct loader *l, const double *idle)
{
	int best = 0;

	for (int w = 1; w < l->workers; w++)
		if (idle[w] < idle[best])
			best = w;
	return best;
}

/* Simulates an epoch; returns how long it took after its iterator was made. */
static double run_epoch(const struct loader *l, int epoch)
{
	struct task *tasks = calloc((size_t)l->batches, sizeof(*tasks));
	double *idle = calloc((size_t)l->workers, sizeof(*idle)), now = 0, sent = 0;
	bool are_there = l->kept && epoch;
	int given = 0;

	for (int w = 0; w < l->workers; w++)
		idle[w] = are_there ? 0
				    : fmax(0, l->boot - l->draw -
						      l->fork * (l->workers - 1 - w));
	for (int i = 0; i < l->batches; i++) {
		double request = now;

		for (; given < l->batches && given < i + 2 * l->workers; given++) {
			const int worker =
				l->pooled ? free_first(l, idle) : given % l->workers;
			double *at = &idle[worker];

			tasks[given].worker = worker;
			tasks[given].load =
				l->load + (given < l->workers && !are_there ? l->first : 0) +
				(given % 7 < 2 ? l->heavy : 0);
			*at = fmax(*at, sent) + tasks[given].load;
			tasks[given].end = *at;
			tasks[given].arrival = *at + (given % 3 ? 0 : l->transit);
		}
		while (!tasks[i].taken) {
			int came = next_arrival(tasks, given);

			now = fmax(now, tasks[came].arrival) + l->receive;
			tasks[came].taken = true;
		}
		now += l->pickup + l->fetch + l->sample;
		append(l, epoch, i, &tasks[i], request, now);
		sent = now;
		now += l->step;
	}
	free(tasks);
	free(idle);
	return now;
}

/* Returns batches per second, from the first batch on, as the account does. */
static double run(const struct loader *l)
{
	double ns = 0;

	series_init(&series);
	series.workers = l->workers;
	series.prefetch_factor = 2;
	series.in_order = 1;
	series.is_foreign = series.is_pooled = l->pooled;
	series.is_thread = l->thread;
	series.receive_ns = l->receive * MS * l->epochs * l->batches;
	series.receive_count = (size_t)l->epochs * (size_t)l->batches;
	if (l->fetch > 0) {
		series.fetches.batches = (double)series.receive_count;
		series.fetches.count = (l->tensors ? l->tensors : 2) * series.fetches.batches;
		series.fetches.ns = l->fetch * MS * series.fetches.batches;
		series.fetches.cpu_ns = 0.05 * series.fetches.ns;
	}
	for (int epoch = 0; epoch < l->epochs; epoch++) {
		bool is_last = epoch + 1 == l->epochs;
		double setup = l->draw + (l->kept && epoch ? 0 : l->fork * l->workers);
		double stop = l->kept ? 0 : l->end * (l->workers + 2.5);
		const struct series_epoch e = {
			.epoch = epoch,
			.begin_ns = (int64_t)ns,
			.setup_ns = (float)(setup * MS),
			.boot_ns = (float)(fmax(0, l->boot - l->draw) * MS),
			.sample_ns = is_drawing_unseen ? NAN : (float)(l->draw * MS),
			.stop_ns = (float)(stop * MS),
			.stop_begin_ns = UNKNOWN,
		};

		ns += setup * MS + run_epoch(l, epoch) * MS + (is_last ? 0 : stop * MS);
		cr_assert_eq(series_add_epoch(&series, &e), 0);
	}
	ns -= (l->draw + l->fork * l->workers) * MS + (double)series.wait_ns[0];
	return (double)series.count / ns * 1e9;
}

static bool is_iterable;

static void predict(const struct loader *l, const struct whatif_wish *wish)
{
	struct trace trace;

	run(l);
	series.share = (struct share){.cores = 2, .all = 2};
	series.main_cores = 0.03;
	series.main_share = 0.4; /* the thread waits for a core whenever it wakes up */
	series.iterable = is_iterable;
	stall_judge(&series, &finding);
	cr_assert_eq(take_trace(&series, &finding, &trace), 0);
	cr_assert_eq(whatif_predict(&series, &finding, &trace, NULL, &whatif), 0);
	cr_assert_eq(whatif.gap, WHATIF_GAP_NONE);
	cr_assert_eq(whatif_ask(&series, &finding, wish, 1, &whatif), 0);
	trace_done(&trace);
	series_done(&series);
}

/* Returns the speed predicted for `other` from a run of `l`, divided by the speed of `other`. */
static double over_truth(const struct loader *l, const struct loader *other)
{
	const struct whatif_wish wish = {"it", other->workers,        -1,
					 -1,   other->load / l->load, other->kept ? 1 : -1};
	double truth = run(other);

	series_done(&series);
	predict(l, &wish);
	return whatif.batches_per_s[WHATIF_MAX] / truth;
}

Test(replay, workers_begin_one_after_the_other)
{
	const struct loader few = {.workers = 2, .epochs = 9, .batches = 20, .load = 15, .step = 12,
				   .fork = 11, .boot = 134, .end = 3.3, .pickup = 0.2};
	struct loader many = few;

	many.workers = 4;
	cr_expect_float_eq(over_truth(&few, &many), 1, 0.02);
	cr_expect_float_eq(over_truth(&many, &few), 1, 0.02);
	many.workers = 1;
	cr_expect_float_eq(over_truth(&few, &many), 1, 0.02);
}

/* A thread starts at once, which says nothing of how long processes take to start and to end. */
Test(replay, more_workers_than_a_thread_are_processes)
{
	const struct loader thread = {.workers = 1, .epochs = 9, .batches = 32, .load = 60,
				      .step = 10, .pickup = 0.2, .thread = true};
	struct loader many = thread;

	many.thread = false;
	many.workers = 4;
	many.fork = 8;
	many.boot = 10;
	many.end = 3;
	cr_expect_float_eq(over_truth(&thread, &many), 1, 0.03);
}

/* A worker that is busy with its next load sends its message late; the training waits then. */
Test(replay, a_message_under_way_is_no_work_of_the_training)
{
	const struct loader slow = {.workers = 2, .epochs = 1, .batches = 200, .load = 30,
				    .step = 6, .transit = 9, .pickup = 0.2};
	struct loader fast = slow;

	fast.load = 15;
	cr_expect_float_eq(over_truth(&slow, &fast), 1, 0.02);
}

/* While the training waits for a batch it receives the batches that come before that one. */
Test(replay, batches_are_taken_in_as_they_come)
{
	const struct loader few = {.workers = 3, .epochs = 1, .batches = 200, .load = 50, .step = 8,
				   .receive = 5, .pickup = 0.1};
	struct loader many = few;

	many.workers = 6;
	cr_expect_float_eq(over_truth(&few, &many), 1, 0.02);
}

static double kept_over_truth(void)
{
	const struct loader new = {.workers = 2,
				   .epochs = 5,
				   .batches = 16,
				   .load = 35,
				   .step = 10,
				   .fork = 8,
				   .boot = 12,
				   .end = 2,
				   .pickup = 0.2,
				   .first = 300};
	struct loader kept = new;

	kept.kept = true;
	return over_truth(&new, &kept);
}

/* Persistent workers have imported and opened all that they need when a later epoch begins. */
Test(replay, the_first_load_of_a_worker_that_stays_is_one_like_others)
{
	cr_expect_float_eq(kept_over_truth(), 1, 0.02);
}

/* A worker of an iterable dataset may open its files anew in each epoch. */
Test(replay, the_first_load_of_an_iterable_dataset_stays)
{
	is_iterable = true;
	cr_expect_lt(kept_over_truth(), 0.85);
}

static const struct whatif_wish AS_IT_WAS = {"it", -1, -1, -1, NAN, -1};

static double truth_of(const struct loader *l)
{
	double rate = run(l);

	series_done(&series);
	return rate;
}

/* However many workers there are, the training's thread chooses the samples of each batch. */
Test(replay, no_worker_chooses_samples)
{
	const struct loader slow = {.workers = 2, .epochs = 1, .batches = 300, .load = 60,
				    .step = 8, .pickup = 0.3, .sample = 20};
	struct loader many = slow, none = slow;

	many.workers = 8;
	none.sample = 0;
	cr_expect_float_eq(over_truth(&slow, &many), 1, 0.02);
	/* A batch takes at least its step and the choice of its samples, 28 ms. */
	cr_expect_lt(whatif.batches_per_s[WHATIF_MAX], 1 / 0.028);
	predict(&many, &AS_IT_WAS);
	none.workers = many.workers;
	cr_expect_float_eq(whatif.batches_per_s[WHATIF_SAMPLING] / truth_of(&none), 1, 0.02);
	/* Choosing samples is not handing over. */
	cr_expect_lt(whatif.gain[WHATIF_DELIVERY], 0.03);
}

static const struct loader DRAWING = {.workers = 2, .epochs = 5, .batches = 40, .load = 15,
				      .step = 10, .fork = 8, .boot = 12, .end = 2, .pickup = 0.2,
				      .draw = 900};

/* Drawing samples when an epoch begins takes as long with any number or kind of workers. */
Test(replay, no_worker_draws_an_epochs_samples)
{
	struct loader kept = DRAWING, many = DRAWING, none = DRAWING;

	kept.kept = true;
	cr_expect_float_eq(over_truth(&DRAWING, &kept), 1, 0.02);
	cr_expect_lt(whatif.gain[WHATIF_PERSISTENT], 0.05);
	many.workers = 4;
	cr_expect_float_eq(over_truth(&DRAWING, &many), 1, 0.02);
	none.draw = 0;
	cr_expect_float_eq(over_truth(&DRAWING, &DRAWING), 1, 0.02);
	cr_expect_float_eq(whatif.batches_per_s[WHATIF_SAMPLING] / truth_of(&none), 1, 0.02);
	predict(&kept, &AS_IT_WAS);
	none.kept = true;
	cr_expect_float_eq(whatif.batches_per_s[WHATIF_SAMPLING] / truth_of(&none), 1, 0.02);
}

/* If workers take longer to start than drawing takes, drawing less gains nothing. */
Test(replay, what_workers_need_to_start_is_not_gained_by_drawing_less)
{
	struct loader slow = DRAWING, none;

	slow.draw = 300;
	slow.boot = 700;
	none = slow;
	none.draw = 0;
	predict(&slow, &AS_IT_WAS);
	cr_expect_float_eq(whatif.batches_per_s[WHATIF_SAMPLING] / truth_of(&none), 1, 0.02);
	cr_expect_lt(whatif.gain[WHATIF_SAMPLING], 0.02);
}

/* If drawing was not observed the predicted gain of persistent workers begins at nothing. */
Test(replay, what_may_have_been_drawing_is_not_promised)
{
	struct whatif_gain gain;

	is_drawing_unseen = true;
	predict(&DRAWING, &AS_IT_WAS);
	gain = whatif_gain_of(&whatif, WHATIF_PERSISTENT);
	cr_expect_gt(gain.gain, 1);
	cr_expect_lt(gain.low, 0.02);
	cr_expect(isnan(whatif.gain[WHATIF_SAMPLING]));
}

/* A worker gives a descriptor only when its next load lets it; other ways of sharing need none. */
Test(replay, descriptors_are_waited_for)
{
	const struct loader asking = {.workers = 4, .epochs = 1, .batches = 300, .load = 60,
				      .step = 20, .pickup = 0.3, .fetch = 18};
	struct loader sharing = asking, half = asking, many = asking, busy = asking;

	sharing.fetch = 0;
	predict(&asking, &AS_IT_WAS);
	cr_expect_float_eq(whatif.batches_per_s[WHATIF_SHARING] / truth_of(&sharing), 1, 0.02);
	cr_expect_gt(whatif.gain[WHATIF_SHARING], 0.5);
	/* They load for less than half of the time: why they answer late is not sure. */
	cr_expect_float_eq(whatif.low_per_s[WHATIF_SHARING], whatif.batches_per_s[WHATIF_BASELINE],
			   1e-6);
	/* Two of them load for most of the time. */
	busy.workers = 2;
	predict(&busy, &AS_IT_WAS);
	cr_expect_gt(whatif.low_per_s[WHATIF_SHARING], 1.02 * whatif.batches_per_s[WHATIF_BASELINE],
		     "%g", whatif.low_per_s[WHATIF_SHARING]);
	/* Sharing 100 tensors by files takes 11 ms. */
	many.tensors = 100;
	sharing.fetch = 11;
	predict(&many, &AS_IT_WAS);
	cr_expect_float_eq(whatif.batches_per_s[WHATIF_SHARING] / truth_of(&sharing), 1, 0.03);
	/* With loads half as long a worker answers in half the time. */
	half.load /= 2;
	half.fetch /= 2;
	cr_expect_float_eq(over_truth(&asking, &half), 1, 0.02);
	/* Or shorter loads do not let workers answer sooner: then the gain is smaller. */
	cr_expect_geq(whatif.high_per_s[WHATIF_LOAD_HALF], whatif.batches_per_s[WHATIF_LOAD_HALF]);
}

/* MXNet Gluon's workers take loads from one queue, so that a long load delays no other load. */
static double pooled_over_truth(bool pooled, double receive)
{
	const struct loader two = {.workers = 2, .epochs = 2, .batches = 140, .load = 10,
				   .step = 12, .pickup = 0.2, .receive = receive,
				   .pooled = pooled, .heavy = 60};
	struct loader three = two;

	three.workers = 3;
	return over_truth(&two, &three);
}

Test(replay, workers_of_a_pool_take_the_next_load)
{
	cr_expect_float_eq(pooled_over_truth(true, 0), 1, 0.02);
	cr_expect_float_eq(pooled_over_truth(false, 0), 1, 0.02);
	/* Also where batches that came early are received in waits for another one. */
	cr_expect_float_eq(pooled_over_truth(true, 1), 1, 0.02);
	cr_expect_float_eq(pooled_over_truth(false, 1), 1, 0.02);
}
