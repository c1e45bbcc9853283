/* SPDX-License-Identifier: Apache-2.0 */
#include "python/relay.h"

#include <time.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/sys.h"
#include "python/identity.h"
#include "record/segment.h"

#define RELAY_MAX   16
#define PASSED_MAX  128
#define WATCHED_MIN 8 /* batches, before anything is said of their thread */

/* A batch on its way to the outer iterator, which keeps their order. */
struct passed {
	uint64_t stream;
	uint64_t ordinal;
	uint64_t ask_ns, arrive_ns;
	uint32_t generation;
	uint32_t task;
	int32_t workers;
	bool arrived;
};

static struct relay {
	const void *outer; /* only to be compared; NULL: free */
	const char *kind;
	int32_t pid;
	int32_t tid; /* who asks; 0: nobody does any more */
	uint64_t begun_ns;
	bool asked;
	uint32_t loader; /* whose batches are passed; 0: the next one's */
	uint64_t passed_count, told_count;
	struct passed passed[PASSED_MAX];
	struct passed last;          /* that was told */
	struct consumer_facts facts; /* that are to be told; kind NULL: none */
	uint64_t facts_stream;
	uint32_t facts_generation, facts_loader, facts_epoch;
	struct consumer consumer; /* the training's side */
} relays[RELAY_MAX];

static struct relay nobody;
static bool named;          /* the user's loader was asked */
static uint32_t here_count; /* threads that ask */

struct relay *relay_enter(const void *outer, const char *kind)
{
	struct relay *relay = NULL;

	for (size_t i = 0; i < RELAY_MAX; i++) {
		struct relay *one = &relays[i];

		if (one->outer == outer) {
			relay = one;
			break;
		}
		if (!one->tid && (!relay || one->begun_ns < relay->begun_ns))
			relay = one;
	}
	if (!relay)
		return NULL;
	here_count += !relay->tid;
	relay->outer = outer;
	relay->kind = kind;
	relay->pid = sys_getpid();
	relay->tid = sys_gettid();
	relay->begun_ns = clock_now_ns();
	relay->asked = false;
	relay->loader = 0;
	relay->passed_count = relay->told_count = 0;
	relay->facts.kind = NULL;
	relay->consumer = (struct consumer){.receive_ns = UINT64_MAX};
	return relay;
}

void relay_leave(struct relay *relay, const void *outer)
{
	if (!relay || relay->outer != outer || relay->tid != sys_gettid())
		return;
	relay->tid = 0;
	here_count--;
}

static struct relay *of_this_thread(void)
{
	int32_t tid;

	if (likely(!here_count))
		return NULL;
	tid = sys_gettid();
	for (size_t i = 0; i < RELAY_MAX; i++)
		if (relays[i].tid == tid)
			return &relays[i];
	return NULL;
}

const char *relay_kind_here(void)
{
	const struct relay *relay = of_this_thread();

	return relay ? relay->kind : NULL;
}

static bool is_main(const struct thread *thread)
{
	return thread->tid == (uint32_t)segment_first()->header.pid;
}

struct relay *relay_here(const struct thread *thread)
{
	struct relay *relay = of_this_thread();

	if (relay || likely(!named))
		return relay;
	/* In the wait of the user's loader itself, that one is made of it. */
	return thread->wait_depth == 1 && !is_main(thread) ? &nobody : NULL;
}

void relay_named(void)
{
	named = true;
}

static bool is_passed(struct relay *relay, const struct consumer *consumer)
{
	/* Of two that it asks in turn, one says how many batches there are. */
	if (!relay->loader)
		relay->loader = consumer->loader;
	return relay != &nobody && relay->loader == consumer->loader;
}

bool relay_is_new(struct relay *relay, const struct consumer *consumer)
{
	return is_passed(relay, consumer) && identity_set_ahead(consumer, relay->kind);
}

void relay_facts(struct relay *relay, const struct consumer *consumer,
		 const struct consumer_facts *facts)
{
	relay->facts = *facts;
	relay->facts_stream = consumer->stream;
	relay->facts_generation = consumer->generation;
	relay->facts_loader = consumer->loader;
	relay->facts_epoch = consumer->epoch;
}

void relay_pass(struct relay *relay, struct consumer *consumer, uint32_t task)
{
	const uint32_t at = task % CONSUMER_ARRIVAL_MAX;
	struct passed *one = &relay->passed[relay->passed_count % PASSED_MAX];

	relay->asked = true;
	if (is_passed(relay, consumer)) {
		*one = (struct passed){
			.stream = consumer->stream,
			.ordinal = consumer->ordinal,
			.ask_ns = consumer->arrivals[at].ask_ns,
			.arrive_ns = consumer->arrivals[at].ns,
			.generation = consumer->generation,
			.task = task,
			.workers = consumer->workers,
			.arrived = consumer->arrivals[at].ns &&
				   consumer->arrivals[at].task == task &&
				   consumer->arrivals[at].generation == consumer->generation,
		};
		relay->passed_count++;
	}
	consumer->ordinal++;
}

void relay_end(struct relay *relay, struct consumer *consumer)
{
	relay->asked = true;
	if (relay->loader == consumer->loader)
		relay->loader = 0;
	consumer_abandon(consumer);
}

static struct passed next_of(struct relay *relay)
{
	/* So far ahead that it was written over: it came after the one before it. */
	if (relay->passed_count - relay->told_count > PASSED_MAX) {
		relay->last.ordinal++;
		relay->last.task++;
		relay->last.arrived = false;
	} else {
		relay->last = relay->passed[relay->told_count % PASSED_MAX];
	}
	relay->told_count++;
	return relay->last;
}

static void tell_facts(struct relay *relay, uint64_t now_ns)
{
	struct consumer *consumer = &relay->consumer;

	consumer->loader = relay->facts_loader;
	consumer->epoch = relay->facts_epoch;
	consumer_announce(consumer, &relay->facts, now_ns);
	consumer->loader = 0; /* that an epoch ended is the inner one's affair */
	relay->facts.kind = NULL;
}

static void tell_batch(struct relay *relay, uint64_t begin_ns)
{
	struct consumer *consumer = &relay->consumer;
	const struct passed batch = next_of(relay);
	const uint32_t at = batch.task % CONSUMER_ARRIVAL_MAX;
	struct consumer_wait wait;

	if (consumer->stream != batch.stream || consumer->generation != batch.generation) {
		if (consumer->stream && !consumer->over)
			consumer_stop_at(consumer, begin_ns);
		consumer->exit_ns = 0;
	}
	consumer->stream = batch.stream;
	consumer->generation = batch.generation;
	consumer->ordinal = batch.ordinal;
	consumer->workers = batch.workers;
	consumer->over = false;
	if (relay->facts.kind && relay->facts_stream == batch.stream &&
	    relay->facts_generation == batch.generation)
		tell_facts(relay, begin_ns);
	consumer->arrivals[at].ask_ns = batch.ask_ns;
	consumer->arrivals[at].ns = batch.arrived ? batch.arrive_ns : 0;
	consumer->arrivals[at].task = batch.task;
	consumer->arrivals[at].generation = batch.generation;
	if (consumer_wait_begin_at(consumer, &wait, begin_ns))
		consumer_wait_end(consumer, &wait, batch.task);
}

bool relay_tell(const void *outer, uint64_t begin_ns, enum relay_answer answer)
{
	struct relay *relay = NULL;
	struct consumer_wait wait;

	for (size_t i = 0; i < RELAY_MAX && !relay; i++)
		if (relays[i].outer == outer)
			relay = &relays[i];
	if (!relay || !relay->asked || relay->pid != sys_getpid())
		return false;
	if (answer == RELAY_BATCH) {
		/* Else it makes several of one, and the first of them was waited for. */
		if (relay->told_count < relay->passed_count)
			tell_batch(relay, begin_ns);
	} else if (relay->consumer.stream && !relay->consumer.over &&
		   consumer_wait_begin_at(&relay->consumer, &wait, begin_ns)) {
		consumer_wait_stop(&relay->consumer, &wait, answer == RELAY_FAILED);
	}
	return true;
}

/* CPU time of the main thread; 0: it has ended. */
static uint64_t main_cpu_ns(void)
{
	struct timespec time = {0, 0};

	/* The kernel's number of a thread's clock: its scheduler's (2), for one thread (4). */
	sys_call2(SYS_clock_gettime, (int)(~(uint32_t)sys_getpid() << 3 | 4 | 2), &time);
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static bool noted; /* of a thread that only fetches */

void relay_watch_begin(struct thread *thread)
{
	if (likely(is_main(thread)) || noted)
		return;
	if (thread->ahead_count)
		thread->ahead_own_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - thread->ahead_exit_ns;
}

void relay_watch_end(struct thread *thread)
{
	if (likely(is_main(thread)) || noted)
		return;
	if (!thread->ahead_count++)
		thread->ahead_main_ns = main_cpu_ns();
	/* Who only fetches has next to nothing to do with what it got. */
	if (thread->ahead_count > WATCHED_MIN &&
	    main_cpu_ns() > thread->ahead_main_ns + thread->ahead_own_ns) {
		noted = true;
		note_add('?',
			     "another thread than the main one asks a DataLoader, and the main "
			     "one is at work: if it fetches ahead for the training, these are "
			     "its waits and not the training's. Name what the training asks: "
			     "DLPROF_BATCH_FN=module:Class.method");
	}
	thread->ahead_exit_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
