/* SPDX-License-Identifier: Apache-2.0 */
#include "python/tfdata.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "activate.h"
#include "clock.h"
#include "hooks/got.h"
#include "python/consumer.h"
#include "sys.h"
#include "thread.h"

#define ASKER_MAX 16

/*
 * A node of a graph that asks an iterator. It has a thread of its own, by which it is known: nobody
 * tells which iterator it was that was asked.
 */
static struct asker {
	_Atomic uint32_t life; /* in which the rest is of; 0: free */
	const struct thread *thread;
	const void *dataset;
	uint64_t end_ns, wait_ns; /* 0: nothing is to be told just now */
	struct consumer consumer;
} askers[ASKER_MAX];

/* The newest iterator, until somebody asks for its first batch. */
static const void *_Atomic newest;

static _Atomic uint32_t held;

void tfdata_made(const void *dataset)
{
	if (!consumer_record())
		return;
	got_sweep();
	atomic_store(&newest, dataset);
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

/* NULL: it cannot be followed. */
static struct asker *asker_of(const struct thread *thread)
{
	for (int i = 0; i < ASKER_MAX; i++)
		if (askers[i].life == thread_life && askers[i].thread == thread)
			return &askers[i];
	for (int i = 0; i < ASKER_MAX; i++) {
		struct asker *one = &askers[i];
		uint32_t before = one->life;

		if (before == thread_life ||
		    !atomic_compare_exchange_strong(&one->life, &before, thread_life))
			continue;
		one->thread = thread;
		one->dataset = NULL;
		one->end_ns = 0;
		memset(&one->consumer, 0, sizeof(one->consumer));
		return one;
	}
	return NULL;
}

/* Who asks first after an iterator was made asks that one. */
static void begin_epoch(struct asker *one, uint64_t begin_ns)
{
	const void *dataset = atomic_exchange(&newest, NULL);
	struct consumer_facts facts = {
		.kind = "tf.data",
		.workers = -1,
		.prefetch_factor = -1,
		.batch_size = -1,
		.flags = DLPROF_EPOCH_OPAQUE,
		.opaque = true,
	};

	if (!dataset && one->consumer.stream && !one->consumer.over)
		return;
	if (dataset)
		one->dataset = dataset;
	facts.dataset = one->dataset;
	consumer_abandon(&one->consumer);
	consumer_start(&one->consumer, &facts, begin_ns);
}

static struct asker *current(void)
{
	struct thread *thread = activate_on() && !atomic_load(&held) ? thread_get() : NULL;

	if (!thread || thread->wait_depth || thread->load_depth || thread->worker >= 0)
		return NULL;
	return asker_of(thread);
}

void tfdata_waited(uint64_t wait_us)
{
	struct asker *one = current();

	if (!one)
		return;
	one->end_ns = clock_now_ns();
	one->wait_ns = wait_us * 1000;
}

void tfdata_fetched(int64_t bytes)
{
	struct asker *one = current();
	struct consumer_wait wait;
	uint64_t begin_ns;

	if (!one || one->wait_ns >= one->end_ns)
		return;
	begin_ns = one->end_ns - one->wait_ns;
	one->end_ns = 0;
	/* At its end, and asked again: that is no epoch of its own. */
	if (bytes <= 0 && one->consumer.over && !atomic_load(&newest))
		return;
	begin_epoch(one, begin_ns);
	if (!consumer_wait_begin_at(&one->consumer, &wait, begin_ns))
		return;
	if (bytes > 0)
		consumer_wait_end(&one->consumer, &wait, (uint32_t)one->consumer.ordinal);
	else
		consumer_wait_stop(&one->consumer, &wait, false);
}
