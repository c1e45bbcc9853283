/* SPDX-License-Identifier: Apache-2.0 */
#include "python/feed.h"

#include <string.h>

#include "base/clock.h"
#include "base/sys.h"
#include "record/segment.h"
#include "record/summary.h"
#include "record/thread.h"

#define FEED_MAX 8

static struct {
	struct feed feeds[FEED_MAX];
	uint32_t count; /* made so far; the oldest one's place is taken */
	uint32_t partial;
	bool noted;
	bool late_tasks;
} feeds;

void feed_reset(void)
{
	memset(&feeds, 0, sizeof(feeds));
}

bool feed_any(void)
{
	return feeds.count;
}

bool feed_partial(void)
{
	return feeds.partial;
}

static struct feed *make_feed(void)
{
	struct feed *feed = &feeds.feeds[feeds.count++ % FEED_MAX];

	feeds.partial -= feed->left_bytes != 0;
	if (feed->begun)
		consumer_abandon(&feed->consumer);
	memset(feed, 0, sizeof(*feed));
	return feed;
}

/* The i-th from the oldest; NULL: there are no more. */
static struct feed *feed_at(uint32_t i)
{
	uint32_t count = feeds.count < FEED_MAX ? feeds.count : FEED_MAX;

	return i < count ? &feeds.feeds[(feeds.count - count + i) % FEED_MAX] : NULL;
}

struct feed *feed_of_result(uint64_t pipe)
{
	struct feed *feed;

	for (uint32_t i = 0; (feed = feed_at(i)); i++)
		if (feed->result == pipe)
			return feed;
	return NULL;
}

/* Which worker it leads to, or -1. */
static int worker_of(const struct feed *feed, uint64_t pipe)
{
	for (uint32_t i = 0; i < feed->workers; i++)
		if (feed->index[i] == pipe)
			return (int)i;
	return -1;
}

/* Number n goes to worker w; of those that follow, only what is needed when iterables end. */
static void note_task(struct feed *feed, int worker, uint32_t number)
{
	if (number > (uint32_t)worker && !feed->limit)
		feed->limit = number - (uint32_t)worker; /* it is this one's second turn */
	feed->owner[number % FEED_HELD_MAX] = (uint8_t)worker;
	if (number >= feed->sent)
		feed->sent = number + 1;
}

/*
 * Workers get the first numbers in turn: the pipe by which number n goes out first is that of
 * worker n, which may be after results of others came. Where several loaders begin at once, it is
 * of the oldest that has no worker n yet.
 */
void feed_sent(uint64_t pipe, uint32_t number)
{
	struct feed *feed;
	int worker;

	for (uint32_t i = 0; (feed = feed_at(i)); i++) {
		worker = worker_of(feed, pipe);
		if (worker >= 0) {
			if (number == 0 && feed->begun) { /* persistent workers begin again */
				feed->ended_ns = clock_now_ns();
				feed->again = true;
				feed->sent = 0;
			}
			note_task(feed, worker, number);
			return;
		}
	}
	if (number >= FEED_WORKER_MAX)
		return;
	for (uint32_t i = 0; (feed = feed_at(i)); i++)
		if (!feed->ended_ns && !feed->index[number] &&
		    (!feed->limit || number < feed->limit))
			break;
	if (!feed)
		feed = make_feed();
	feed->index[number] = pipe;
	if (feed->workers <= number)
		feed->workers = number + 1;
	note_task(feed, (int)number, number);
}

/*
 * One worker less: all of them at the end of the epoch, before that those whose data is at its end.
 * A write that was interrupted says it again.
 */
void feed_told_to_end(uint64_t pipe)
{
	struct feed *feed;

	for (uint32_t i = 0; (feed = feed_at(i)); i++) {
		int worker = worker_of(feed, pipe);

		if (worker < 0 || feed->told[worker])
			continue;
		feed->told[worker] = true;
		if (++feed->ends == feed->workers)
			feed->ended_ns = clock_now_ns();
	}
}

/* The oldest one whose results were not seen yet. */
struct feed *feed_fresh(void)
{
	struct feed *feed;

	for (uint32_t i = 0; (feed = feed_at(i)); i++)
		if (!feed->result && !feed->ended_ns)
			break;
	return feed;
}

static void note_once(void)
{
	if (feeds.noted)
		return;
	feeds.noted = true;
	segment_note('w',
		     "batches are identified by what goes through their loader's pipes, because "
		     "no loader that dlprof knows by name was used: collating is not observed, nor "
		     "what the hand-over of a batch costs after its message was read; loaders of "
		     "as many workers count as one");
}

bool feed_needs_tasks(const struct feed *feed)
{
	return !feed->begun && !feed->limit && !feeds.late_tasks;
}

void feed_has_late_tasks(void)
{
	feeds.late_tasks = true;
}

static uint32_t worker_count(const struct feed *feed)
{
	return feed->limit > feed->workers ? feed->limit : feed->workers;
}

static void announce(struct feed *feed)
{
	const struct consumer_facts facts = {
		.kind = "DataLoader (pipes)",
		.stream = feed->result,
		.workers = (int32_t)worker_count(feed),
		.prefetch_factor = -1,
		.batch_size = -1,
		.flags = DLPROF_EPOCH_IN_ORDER,
		.dataset = &feeds,
		.opaque = true,
	};

	if (feed->begun) {
		consumer_announce(&feed->consumer, &facts, clock_now_ns());
	} else {
		note_once();
		consumer_start(&feed->consumer, &facts, clock_now_ns());
		feed->begun = true;
		feed->want = 0;
		feed->delivered_ns = 0;
		memset(feed->held, 0, sizeof(feed->held));
	}
	feed->announced = worker_count(feed);
}

static void push(struct feed *feed, uint16_t kind, uint64_t begin_ns)
{
	struct thread *thread = thread_get();
	struct dlprof_event event = {
		.kind = kind,
		.worker = -1,
		.begin_ns = begin_ns,
		.stream = feed->consumer.stream,
		.generation = feed->consumer.generation,
		.task = feed->want,
		.batch = {.ordinal = feed->consumer.ordinal, .receive_ns = UINT64_MAX},
	};

	if (!thread)
		return;
	event.batch.waited_ns = thread->waited_ns;
	thread_push(thread, &event);
}

/*
 * Results that came early are handed out without a call that could be seen, some time between the
 * last wait and now; each is taken to have had an equal part of that time.
 */
static void deliver_held(struct feed *feed, uint64_t now_ns)
{
	uint64_t from_ns = feed->delivered_ns, count = 0, done = 0;
	uint32_t number = feed->want;

	for (;
	     feed->held[number % FEED_HELD_MAX] != FEED_NOT && number - feed->want < FEED_HELD_MAX;
	     number++)
		count += feed->held[number % FEED_HELD_MAX] == FEED_BATCH;
	for (; feed->want != number; feed->want++) {
		uint8_t *held = &feed->held[feed->want % FEED_HELD_MAX];

		if (*held == FEED_BATCH) {
			done++;
			push(feed, DLPROF_EVENT_BATCH,
			     from_ns + (now_ns - from_ns) * done / (count + 1));
			feed->consumer.ordinal++;
			summary_count();
		}
		*held = FEED_NOT;
	}
}

/* On the thread that waits, so that records of one loader stay in one ring. */
static void end_epoch(struct feed *feed)
{
	if (!feed->begun)
		return;
	if (feed->waiting) /* for workers to begin again */
		consumer_wait_stop(&feed->consumer, &feed->wait, true);
	feed->waiting = false;
	deliver_held(feed, feed->ended_ns);
	push(feed, DLPROF_EVENT_STOP, feed->ended_ns);
	consumer_abandon(&feed->consumer);
	feed->begun = false;
	if (feed->again)
		feed->ended_ns = 0;
	feed->again = false;
}

void feed_end_epochs(void)
{
	struct feed *feed;

	for (uint32_t i = 0; (feed = feed_at(i)); i++)
		if (feed->ended_ns)
			end_epoch(feed);
}

/* Somebody begins to wait for a result of this loader. */
void feed_ask(struct feed *feed, uint64_t now_ns)
{
	feed_end_epochs();
	if (feed->waiting && feed->answered)
		feed->wait.begin_ns = now_ns;
	feed->answered = false;
	if (feed->waiting)
		return;
	if (!feed->elsewhere && sys_gettid() != sys_getpid()) {
		feed->elsewhere = true;
		segment_note('w', "a thread of its own takes in the batches (pin_memory): what the "
				  "training waits for them is not observed");
	}
	if (feed->elsewhere) {
		if (!feed->begun || feed->announced != worker_count(feed))
			announce(feed);
		return;
	}
	deliver_held(feed, now_ns);
	feed->waiting = consumer_wait_begin(&feed->consumer, &feed->wait);
	feed->wait.begin_ns = now_ns;
}

void feed_answered(struct feed *feed)
{
	feed->answered = true;
}

/* A result is in memory, but for its unpickling. */
static void arrive(struct feed *feed, uint32_t number, enum feed_held what)
{
	uint32_t at = number % CONSUMER_ARRIVAL_MAX;
	uint64_t asked_ns = feed->waiting ? feed->wait.begin_ns : clock_now_ns();

	if (feed->elsewhere)
		return;
	/* What was handed out comes again: persistent workers, whose new tasks we may not have
	 * seen. */
	if (feed->begun && number < feed->want) {
		if (!feed->ended_ns)
			feed->ended_ns = asked_ns;
		feed->again = true;
		end_epoch(feed);
		feed_ask(feed, asked_ns);
	}
	if (!feed->begun || feed->announced != worker_count(feed))
		announce(feed);
	if (number - feed->want >= FEED_HELD_MAX)
		return;
	feed->consumer.arrivals[at].ask_ns = feed->waiting ? feed->wait.begin_ns : clock_now_ns();
	feed->consumer.arrivals[at].ns = clock_now_ns();
	feed->consumer.arrivals[at].task = number;
	feed->consumer.arrivals[at].generation = feed->consumer.generation;
	feed->held[number % FEED_HELD_MAX] = (uint8_t)what;
	/* That worker ends, and what else it was sent will not come. */
	for (uint32_t i = number + 1; what == FEED_PASSED && i < feed->sent; i++)
		if (feed->owner[i % FEED_HELD_MAX] == feed->owner[number % FEED_HELD_MAX])
			feed->held[i % FEED_HELD_MAX] = FEED_PASSED;
	/* Those that nobody will be handed are passed by at once. */
	while (feed->held[feed->want % FEED_HELD_MAX] == FEED_PASSED)
		feed->held[feed->want++ % FEED_HELD_MAX] = FEED_NOT;
	if (!feed->waiting || feed->held[feed->want % FEED_HELD_MAX] != FEED_BATCH)
		return;
	feed->held[feed->want % FEED_HELD_MAX] = FEED_NOT;
	consumer_wait_end(&feed->consumer, &feed->wait, feed->want);
	feed->waiting = false;
	feed->want++;
	feed->delivered_ns = feed->consumer.exit_ns;
}

void feed_begins(struct feed *feed, uint32_t number, enum feed_held what, size_t count, size_t size)
{
	feed->incoming = number;
	feed->left_bytes = size - count;
	if (feed->left_bytes)
		feeds.partial++;
	else
		arrive(feed, number, what);
}

void feed_goes_on(struct feed *feed, size_t count)
{
	feed->left_bytes -= count < feed->left_bytes ? count : feed->left_bytes;
	if (feed->left_bytes)
		return;
	feeds.partial--;
	arrive(feed, feed->incoming, FEED_BATCH);
}
