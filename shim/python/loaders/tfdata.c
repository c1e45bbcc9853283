/* SPDX-License-Identifier: Apache-2.0 */
#include "python/loaders/tfdata.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/table.h"
#include "python/torch/iterator.h"
#include "record/activate.h"
#include "record/summary.h"
#include "record/thread.h"
#include "slots/got.h"

#define ITERATOR_MAX 128

/* An iterator. `key` is its object or, if that is unknown, the thread that asks for its batches. */
struct iterator {
	const void *key;
	uint32_t life;
	bool ignored;               /* it only gives parts of another iterator's elements */
	bool fresh;
	const struct thread *first;
	const void *dataset;
	uint64_t used_ns; /* time of the last call; 0: free */
	struct consumer consumer;
};

TABLE(struct iterator, iterators, ITERATOR_MAX)

static _Atomic uint32_t iterators_busy;

/* the thread that made the newest iterator, which take_making() may credit to another; or NULL */
static struct thread *maker;
static uint32_t maker_life;

/* dataset of the newest iterator whose object is unknown */
static const void *_Atomic newest;

static _Atomic uint32_t held;

/* true: calls of TensorFlow tell which iterator is asked, by an object that belongs to it */
static atomic_bool telling;

static bool is_used(const struct iterator *one)
{
	return one->used_ns && one->life == thread_life;
}

static void forget(struct iterator *one)
{
	if (is_used(one))
		consumer_abandon(&one->consumer);
	memset(one, 0, sizeof(*one));
}

static struct iterator *look_up(const void *key)
{
	struct iterator *one = iterators();

	for (int i = 0; one && i < ITERATOR_MAX; i++, one++)
		if (is_used(one) && one->key == key)
			return one;
	return NULL;
}

/* Returns a new entry, in the place of the oldest one if all are in use. NULL: no memory. */
static struct iterator *add(const void *key)
{
	struct iterator *all = iterators(), *oldest = all;

	if (!all)
		return NULL;
	for (int i = 1; i < ITERATOR_MAX && is_used(oldest); i++)
		if (!is_used(&all[i]) || all[i].used_ns < oldest->used_ns)
			oldest = &all[i];
	if (is_used(oldest) && oldest->consumer.stream && !oldest->consumer.over)
		note_once('w', "dlprof tracks 128 iterators of TensorFlow's; beyond that it may "
			       "count too many loaders");
	forget(oldest);
	oldest->key = key;
	oldest->life = thread_life;
	oldest->used_ns = clock_now_ns();
	return oldest;
}

void tfdata_make(struct tfdata_making *making, const void *dataset, bool many)
{
	struct tfdata_making *outer;

	memset(making, 0, sizeof(*making));
	if (!consumer_record())
		return;
	got_sweep();
	making->thread = thread_get();
	making->life = thread_life;
	making->dataset = dataset;
	making->many = many;
	if (!making->thread)
		return;
	outer = making->thread->tfdata.making;
	making->outer = outer;
	if (outer) {
		making->ignored = outer->ignored || (outer->many && outer->part_count);
		if (outer->many)
			making->dataset = outer->dataset;
		outer->part_count++;
	}
	making->thread->tfdata.making = making;
	making->begin_ns = clock_now_ns();
}

/* Adds the time of making an iterator, unless this was part of making another iterator. */
static void count_making(const struct tfdata_making *making)
{
	if (making->outer || !making->is_eager)
		return;
	consumer_iter_took(making->thread, making->begin_ns, clock_now_ns() - making->begin_ns);
	maker = making->thread;
	maker_life = making->life;
}

/* Moves the time of making to the thread of TensorFlow that asks the iterator. */
static void take_making(struct thread *thread)
{
	if (!maker || maker_life != thread_life || maker == thread || !maker->iter_ns)
		return;
	consumer_iter_took(thread, maker->iter_begin_ns, maker->iter_ns);
	/* Threads of a pool have one account, which has got this time already. */
	if (thread->account && thread->account == maker->account)
		thread->account->waited_ns -= maker->iter_ns;
	maker->iter_ns = 0;
}

void tfdata_make_end(struct tfdata_making *making)
{
	if (!making->thread || !thread_is_in_life(making->life))
		return;
	making->thread->tfdata.making = making->outer;
	count_making(making);
	if (!making->seen && !making->many && !making->ignored)
		atomic_store(&newest, making->dataset);
}

void tfdata_made(const void *iterator)
{
	struct thread *thread = thread_get();
	struct tfdata_making *making = thread ? thread->tfdata.making : NULL;
	struct iterator *one;

	thread_lock(&iterators_busy);
	one = look_up(iterator);
	if (one)
		forget(one);
	if (making) {
		making->seen = true;
		one = add(iterator);
	}
	if (making && one) {
		one->dataset = making->dataset;
		one->ignored = making->ignored || making->many;
		one->fresh = true;
	}
	thread_unlock(&iterators_busy);
}

void tfdata_hold(void)
{
	atomic_fetch_add(&held, 1);
	atomic_store(&newest, NULL);
}

void tfdata_release(void)
{
	atomic_fetch_sub(&held, 1);
}

/* Begins an epoch if one is due. An object whose making was not seen is the newest iterator's. */
static void begin_epoch(struct iterator *one, struct thread *thread, uint64_t begin_ns)
{
	const void *dataset = one->fresh ? one->dataset : atomic_exchange(&newest, NULL);
	struct consumer_facts facts = {
		.kind = "tf.data",
		.workers = -1,
		CONSUMER_OPAQUE,
	};

	if (!dataset && one->consumer.stream && !one->consumer.over)
		return;
	if (dataset)
		one->dataset = dataset;
	/* This thread asks a new iterator, so its older iterator over the dataset has ended. */
	for (struct iterator *other = iterators(); dataset && other < iterators() + ITERATOR_MAX;
	     other++)
		if (is_used(other) && other->dataset == dataset && other->first == thread)
			consumer_abandon(&other->consumer);
	one->fresh = false;
	one->first = thread;
	facts.dataset = one->dataset;
	consumer_abandon(&one->consumer);
	take_making(thread);
	iterator_start(&one->consumer, &facts, begin_ns);
}

static struct thread *current(void)
{
	return activate_on() ? thread_get() : NULL;
}

void tfdata_asked(const void *iterator)
{
	struct thread *thread = current();

	atomic_store(&telling, true);
	if (!thread || thread->tfdata.asked[0] == iterator)
		return;
	thread->tfdata.asked[1] = thread->tfdata.asked[0];
	thread->tfdata.asked[0] = iterator;
}

void tfdata_waited(uint64_t wait_us)
{
	struct thread *thread = current();

	if (!thread)
		return;
	thread->tfdata.end_ns = clock_now_ns();
	thread->tfdata.took_ns = wait_us * 1000;
}

void tfdata_dropped(uint64_t begin_ns)
{
	struct thread *thread = current();

	if (!thread || maker != thread || maker_life != thread_life || thread->wait_depth ||
	    thread->load_depth || thread->tfdata.making)
		return;
	consumer_iter_took(thread, begin_ns, clock_now_ns() - begin_ns);
}

static void tell(struct iterator *one, struct thread *thread, uint64_t begin_ns, bool any)
{
	struct consumer_wait wait;

	one->used_ns = clock_now_ns();
	if (one->ignored)
		return;
	/* An iterator that is asked after its end begins no epoch. */
	if (!any && one->consumer.over && !atomic_load(&newest))
		return;
	begin_epoch(one, thread, begin_ns);
	if (!consumer_wait_begin(&one->consumer, &wait, begin_ns))
		return;
	if (any)
		consumer_wait_end(&one->consumer, &wait, (uint32_t)one->consumer.ordinal);
	else
		consumer_wait_stop(&one->consumer, &wait, false);
}

void tfdata_fetched(int64_t bytes)
{
	struct thread *thread = current();
	struct iterator *one;
	const void *key;
	uint64_t begin_ns = 0;

	if (!thread)
		return;
	key = thread->tfdata.asked[0];
	thread->tfdata.asked[0] = thread->tfdata.asked[1];
	thread->tfdata.asked[1] = NULL;
	if (thread->tfdata.took_ns < thread->tfdata.end_ns)
		begin_ns = thread->tfdata.end_ns - thread->tfdata.took_ns;
	thread->tfdata.end_ns = 0;
	if (!key && !atomic_load(&telling))
		key = thread;
	if (!key || !begin_ns || atomic_load(&held) || thread->wait_depth || thread->load_depth ||
	    thread->worker >= 0)
		return;
	thread_lock(&iterators_busy);
	one = look_up(key);
	if (!one)
		one = add(key);
	if (one)
		tell(one, thread, begin_ns, bytes > 0);
	thread_unlock(&iterators_busy);
}
