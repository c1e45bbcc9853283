/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/ahead.h"

#include <time.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/sys.h"
#include "base/table.h"
#include "record/segment.h"
#include "record/summary.h"

#define ASKER_MAX   16
#define ITEM_MAX    128
#define UNSEEN_MOST 2 /* items of an asker that unseen calls may take: its first and its newest */
/* checks of a queue are one wait if each pause is at most this plus a check's length */
#define AT_ONCE_NS  1000000
#define WATCHED_MIN 8 /* is_prefetching() judges a thread that has got this many batches */
#define WORKS_LEAST 20

#define ELSE_NAME "name what the training asks by DLPROF_BATCH_FN=module:Class.method"

static struct asker {
	uint32_t number; /* 0: free */
	enum { UNPROVEN, PROVEN, OWN } state;
	uint64_t used_ns;
	struct ahead_parts batch; /* batch that the asker has now */
	struct ahead_item next;	  /* item that the asker will put next */
	const void *key;	  /* queue or future of the asker's last item */
	uint64_t put_count, told_count;
	uint32_t taker; /* thread that gets the asker's items; 0: unknown */
} askers[ASKER_MAX];

TABLE(struct ahead_item, items, ITEM_MAX)
static uint64_t item_count;
static size_t item_top;	    /* all items from this index on are free */

static uint32_t asker_count, life;
static bool has_other;
static bool named;
static bool noted;

static void doubt(const char *why)
{
	if (noted)
		return;
	noted = true;
	summary_doubt();
	note_add('?', why);
}

static void doubt_hand_over(void)
{
	doubt("a thread takes batches from a DataLoader and hands them on in a way that dlprof "
	      "does not follow, so it is not known what the training waited: " ELSE_NAME);
}

static bool is_main(const struct thread *thread)
{
	return thread->tid == (uint32_t)segment_first()->header.pid;
}

static void begin_life(void)
{
	if (life == thread_life)
		return;
	life = thread_life;
	has_other = false;
	for (size_t i = 0; i < item_top; i++)
		items()[i].asker = 0;
	for (size_t i = 0; i < ASKER_MAX; i++)
		askers[i].number = askers[i].used_ns = 0;
}

/* Returns the asker with this number, or NULL if `number` is 0 or a newer asker took the place. */
static struct asker *asker_of(uint32_t number)
{
	struct asker *asker = &askers[number % ASKER_MAX];

	return number && life == thread_life && asker->number == number ? asker : NULL;
}

static void forget_asker(struct asker *asker)
{
	for (size_t i = 0; i < item_top; i++)
		if (items()[i].asker == asker->number && !items()[i].taker)
			items()[i].asker = 0;
	*asker = (struct asker){.number = 0};
}

static struct asker *make(void)
{
	struct asker *oldest = &askers[0];

	for (size_t i = 0; i < ASKER_MAX; i++)
		if (askers[i].used_ns < oldest->used_ns)
			oldest = &askers[i];
	forget_asker(oldest);
	do
		oldest->number = ++asker_count;
	while (&askers[oldest->number % ASKER_MAX] != oldest);
	return oldest;
}

void ahead_named(void)
{
	named = true;
}

bool ahead_may_be_users(const struct thread *thread)
{
	return unlikely(named) && thread->wait_depth == 1 && !is_main(thread);
}

static bool is_fresh(const struct asker *asker)
{
	return asker->next.events[AHEAD_BATCH].kind || asker->next.events[AHEAD_STOP].kind;
}

bool ahead_asks(struct thread *thread, uint64_t stream)
{
	const struct dlprof_event *batch;
	struct asker *asker;

	if (is_main(thread) || named || thread->ahead.asks_itself || thread->ahead.takes ||
	    thread->ahead.train_count)
		return false;
	begin_life();
	has_other = true;
	asker = asker_of(thread->ahead.asker);
	if (!asker) {
		asker = make();
		thread->ahead.asker = asker->number;
	}
	asker->used_ns = clock_now_ns();
	/* The last batch was put nowhere: the asker joins batches in one item, or drops some. */
	batch = &asker->next.events[AHEAD_BATCH];
	if (batch->kind && batch->stream == stream)
		ahead_give_up(thread, false);
	return true;
}

void ahead_took(const struct thread *thread, const struct ahead_parts *batch)
{
	struct asker *asker = asker_of(thread->ahead.asker);

	if (asker)
		asker->batch = *batch;
}

static bool is_again(const struct dlprof_event *event)
{
	return event->kind == DLPROF_EVENT_EPOCH && event->epoch.flags & AHEAD_EPOCH_AGAIN;
}

static bool is_same_epoch(const struct dlprof_event *again, const struct dlprof_event *epoch)
{
	return epoch->kind && is_again(again) && again->stream == epoch->stream;
}

/* An item has one loader's records. Records of a second loader that its asker asks are dropped. */
bool ahead_keep(struct thread *thread, const struct dlprof_event *event)
{
	struct asker *asker = asker_of(thread->ahead.asker);
	struct dlprof_event *kept = asker ? asker->next.events : NULL;

	if (!kept || asker->state == OWN || event->flags & DLPROF_FLAG_NESTED)
		return false;
	asker->batch.count = 0;
	if (event->kind == DLPROF_EVENT_STOP) {
		kept[AHEAD_BATCH].kind = DLPROF_EVENT_NONE;
		kept[AHEAD_STOP] = *event;
	} else if (!kept[AHEAD_BATCH].kind && event->kind == DLPROF_EVENT_BATCH) {
		kept[AHEAD_BATCH] = *event;
	} else if (!kept[AHEAD_BATCH].kind && !is_same_epoch(event, &kept[AHEAD_EPOCH])) {
		if (kept[AHEAD_EPOCH].kind && !is_again(&kept[AHEAD_EPOCH]))
			thread_push(thread, &kept[AHEAD_EPOCH]);
		kept[AHEAD_EPOCH] = *event;
		if (!event->epoch.unused)
			kept[AHEAD_EPOCH].epoch.unused = thread->tid;
	}
	return true;
}

bool ahead_take_epoch(uint32_t number, uint64_t stream, struct dlprof_event *ret_event)
{
	struct asker *asker = asker_of(number);
	struct dlprof_event *epoch = asker ? &asker->next.events[AHEAD_EPOCH] : NULL;

	if (!epoch || !epoch->kind || epoch->stream != stream || is_again(epoch))
		return false;
	*ret_event = *epoch;
	epoch->kind = DLPROF_EVENT_NONE;
	return true;
}

void ahead_give_up(struct thread *thread, bool doubtful)
{
	struct asker *asker = asker_of(thread->ahead.asker);

	if (asker && (doubtful || asker->state == PROVEN))
		doubt_hand_over();
	if (asker)
		asker->state = OWN;
}

bool ahead_is_own(const struct thread *thread)
{
	const struct asker *asker = asker_of(thread->ahead.asker);

	return asker && asker->state == OWN;
}

/* Returns the oldest item of `asker` (0: any) and `taker` (0: any or none), or NULL. */
static struct ahead_item *oldest_of(uint32_t asker, uint32_t taker)
{
	struct ahead_item *oldest = NULL;

	for (size_t i = 0; i < item_top; i++)
		if (items()[i].asker && (!asker || items()[i].asker == asker) &&
		    (!taker || items()[i].taker == taker) &&
		    (!oldest || items()[i].order < oldest->order))
			oldest = &items()[i];
	return oldest;
}

bool ahead_next_own(struct thread *thread, struct dlprof_event *ret_event)
{
	struct asker *asker = asker_of(thread->ahead.asker);
	struct ahead_item *item = asker ? oldest_of(asker->number, 0) : NULL;

	if (!item && asker)
		item = &asker->next;
	for (int i = 0; item && i < AHEAD_EVENT_MAX; i++) {
		*ret_event = item->events[i];
		item->events[i].kind = DLPROF_EVENT_NONE;
		if (ret_event->kind && !is_again(ret_event))
			return true;
	}
	if (item && item->asker) {
		item->asker = 0;
		return ahead_next_own(thread, ret_event);
	}
	if (asker)
		forget_asker(asker);
	thread->ahead.asker = 0;
	thread->ahead.asks_itself = true;
	return false;
}

/* Returns an item that the thread took and may now put into another queue, or NULL. */
static struct ahead_item *passes_on(const struct thread *thread)
{
	if (likely(!thread->ahead.held_count) || thread->ahead.takes ||
	    thread->ahead.train_count || is_main(thread))
		return NULL;
	return oldest_of(0, thread->tid);
}

bool ahead_has(const struct thread *thread)
{
	const struct asker *asker = asker_of(thread->ahead.asker);

	return (asker && is_fresh(asker) && asker->state != OWN) || passes_on(thread);
}

static struct ahead_item *find(const void *key, const void *object)
{
	struct ahead_item *found = NULL;

	for (size_t i = 0; i < item_top && life == thread_life; i++)
		if (items()[i].asker && !items()[i].taker && items()[i].key == key &&
		    items()[i].object == object && (!found || items()[i].order < found->order))
			found = &items()[i];
	return found;
}

static bool meet(const struct ahead_parts *a, const struct ahead_parts *b)
{
	for (uint32_t i = 0; i < a->count; i++)
		for (uint32_t j = 0; j < b->count; j++)
			if (a->at[i] == b->at[j])
				return true;
	return false;
}

/* Returns a free item. NULL: all are in use, or calls that we do not see take the asker's items. */
static struct ahead_item *free_item(const struct asker *asker, const void *key, uint64_t count)
{
	struct ahead_item *item = NULL;
	uint64_t untaken = 0;

	while (item_top && !items()[item_top - 1].asker)
		item_top--;
	for (size_t i = 0; i < item_top; i++) {
		if (!items()[i].asker)
			item = &items()[i];
		else
			untaken += items()[i].asker == asker->number && items()[i].key == key &&
				   !items()[i].taker;
	}
	if (untaken > UNSEEN_MOST && untaken - UNSEEN_MOST > count)
		return NULL;
	return item || item_top == ITEM_MAX || !items() ? item : &items()[item_top++];
}

static void place(struct ahead_item *item, const void *key, const void *object)
{
	item->key = key;
	item->object = object;
	item->taker = 0;
	item->order = ++item_count;
}

static void fill(struct ahead_item *item, struct asker *asker)
{
	*item = asker->next;
	item->asker = asker->number;
	item->place = ++asker->put_count;
	asker->next = (struct ahead_item){.asker = 0};
}

bool ahead_puts(struct thread *thread, const void *key, const void *object,
		const struct ahead_parts *parts, uint64_t count)
{
	struct asker *asker = asker_of(thread->ahead.asker);
	struct ahead_item *item = passes_on(thread), *before = find(key, object);

	if (item) {
		thread->ahead.held_count--;
		place(item, key, object);
		return true;
	}
	if (!asker || !is_fresh(asker) || asker->state == OWN) {
		/* A call that we did not see has taken the item which had this address before. */
		if (before && before->asker != thread->ahead.asker)
			before->asker = 0;
		return false;
	}
	item = free_item(asker, key, count);
	if (!item) {
		ahead_give_up(thread, false);
		return false;
	}
	fill(item, asker);
	item->end_ns = clock_now_ns();
	item->begin_ns = item->end_ns - thread->waited_ns;
	place(item, key, object);
	asker->key = key;
	if (asker->state == UNPROVEN && meet(parts, &asker->batch))
		asker->state = PROVEN;
	return true;
}

void ahead_put_failed(struct thread *thread, const void *key, const void *object)
{
	struct asker *asker = asker_of(thread->ahead.asker);
	struct ahead_item *item = find(key, object);

	if (item && asker && item->asker == asker->number) {
		asker->next = *item;
		asker->next.asker = 0;
		asker->put_count--;
		item->asker = 0;
	} else if (item) {
		item->taker = thread->tid;
		thread->ahead.held_count++;
	}
}

/* Returns when a wait began: at the first check that found the queue empty, or at begin_ns. */
static uint64_t looked_since(struct thread *thread, const struct ahead_item *item,
			     uint64_t begin_ns)
{
	const struct asker *asker = asker_of(item->asker);
	const bool any = !thread->ahead.looked_key && !item->object;

	if (!thread->ahead.looked || (thread->ahead.looked_key != item->key && !any))
		return begin_ns;
	thread->ahead.looked = false;
	/* The training may have made a step on an earlier item between two checks. */
	if (asker && asker->told_count &&
	    (thread->ahead.looked_apart || begin_ns > thread->ahead.looked_until_ns))
		doubt_hand_over();
	return thread->ahead.looked_begin_ns;
}

bool ahead_takes(struct thread *thread, const void *key, const void *object, uint64_t begin_ns,
		 uint64_t end_ns)
{
	struct ahead_item *item = find(key, object);
	struct ahead_item *held;
	struct asker *asker = item ? asker_of(item->asker) : NULL;
	struct ahead_item *first = asker ? oldest_of(item->asker, 0) : NULL;

	if (!asker || thread->ahead.asker == item->asker)
		return item;
	/* The thread has passed no item on. So if its items are batches, it trains with them. */
	while (thread->ahead.held_count && (held = oldest_of(0, thread->tid))) {
		struct asker *of_held = asker_of(held->asker);

		if (of_held && of_held->state == PROVEN) {
			thread->ahead.takes = true;
			break;
		}
		if (of_held)
			of_held->state = OWN;
		held->taker = 0;
		thread->ahead.held_count--;
	}
	item->begin_ns = looked_since(thread, item, begin_ns);
	item->end_ns = end_ns;
	item->taker = thread->tid;
	thread->ahead.held_count++;
	/* The first item was taken by an unseen call, which began before calls were wrapped. */
	if (!asker->told_count && item->place == 2 && first->place == 1 && !first->taker) {
		first->taker = thread->tid;
		thread->ahead.held_count++;
	}
	return true;
}

void ahead_ends(struct thread *thread, uint64_t begin_ns, uint64_t end_ns)
{
	struct ahead_item *item = NULL;

	thread->ahead.looked = false;
	for (size_t i = 0; i < ASKER_MAX && life == thread_life; i++) {
		struct asker *asker = &askers[i];

		if (!asker->number || asker->taker != thread->tid || !is_fresh(asker) ||
		    asker->next.events[AHEAD_BATCH].kind || asker->put_count != asker->told_count)
			continue;
		item = free_item(asker, NULL, UINT64_MAX);
		if (!item)
			return;
		fill(item, asker);
		place(item, NULL, NULL);
		item->taker = thread->tid;
		item->begin_ns = begin_ns;
		item->end_ns = end_ns;
		thread->ahead.held_count++;
	}
}

/* Returns true if the items are batches, not results, and this thread trains with them. */
static bool settle(const struct thread *thread, struct asker *asker)
{
	const bool trains = thread->ahead.train_count || thread->ahead.takes_within;

	if (asker->state == OWN)
		return false;
	if (trains)
		asker->state = PROVEN;
	return asker->state == PROVEN && (trains || thread->ahead.takes || is_main(thread));
}

struct ahead_item *ahead_next(struct thread *thread)
{
	struct ahead_item *item = thread->ahead.held_count ? oldest_of(0, thread->tid) : NULL;
	struct asker *asker = item ? asker_of(item->asker) : NULL;

	/* Skip the items of an asker that was forgotten. */
	for (; item && !asker; asker = item ? asker_of(item->asker) : NULL) {
		item->asker = 0;
		item = oldest_of(0, thread->tid);
	}
	if (!item)
		thread->ahead.held_count = 0;
	if (!item || !settle(thread, asker))
		return NULL;
	if (item->place != asker->told_count + 1 || (asker->taker && asker->taker != thread->tid))
		doubt_hand_over();
	/* This thread trains with batches that others got, so with those that it gets, too. */
	if (asker_of(thread->ahead.asker))
		asker_of(thread->ahead.asker)->state = OWN;
	asker->told_count = item->place;
	asker->taker = thread->tid;
	thread->ahead.takes = true;
	return item;
}

void ahead_drop(struct thread *thread, struct ahead_item *item)
{
	item->asker = 0;
	thread->ahead.held_count--;
}

static bool is_put_into(const void *key)
{
	for (size_t i = 0; i < ASKER_MAX && life == thread_life; i++)
		if (askers[i].number && askers[i].key == key &&
		    !askers[i].next.events[AHEAD_STOP].kind)
			return true;
	return false;
}

/* A wait for a known queue goes on even if other queues, or futures, are looked at meanwhile. */
void ahead_found_none(struct thread *thread, const void *key, uint64_t begin_ns, uint64_t end_ns)
{
	const bool again = thread->ahead.looked && thread->ahead.looked_key == key;

	if (!again && thread->ahead.looked && !is_put_into(key) &&
	    is_put_into(thread->ahead.looked_key))
		return;
	thread->ahead.looked_apart = !key || (again && (thread->ahead.looked_apart ||
						  begin_ns > thread->ahead.looked_until_ns));
	if (!again)
		thread->ahead.looked_begin_ns = begin_ns;
	thread->ahead.looked = true;
	thread->ahead.looked_key = key;
	/* Other threads may take the core or the GIL, so the next check may come late. */
	thread->ahead.looked_until_ns = end_ns + AT_ONCE_NS + (end_ns - begin_ns);
	if (thread->ahead.takes_within)
		thread->ahead.looked_until_ns = UINT64_MAX;
}

void ahead_trains(struct thread *thread)
{
	if (thread->ahead.train_count < AHEAD_TRAINS_MIN || thread->wait_count)
		thread->ahead.train_count++;
	else if (has_other && life == thread_life && !named)
		doubt_hand_over();
}

/* Returns the main thread's CPU time, or 0 if that thread has ended. */
static uint64_t main_cpu_ns(void)
{
	struct timespec time = {0, 0};

	/* clock id: 2 is CPUCLOCK_SCHED, 4 means one thread */
	sys_call2(SYS_clock_gettime, (int)(~(uint32_t)sys_getpid() << 3 | 4 | 2), &time);
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static bool is_watched(const struct thread *thread)
{
	return unlikely(!is_main(thread)) && !noted && !named && !thread->ahead.asker;
}

void ahead_watch_begin(struct thread *thread)
{
	if (!is_watched(thread))
		return;
	if (thread->ahead.count)
		thread->ahead.own_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - thread->ahead.exit_ns;
	thread->ahead.waited_ns -= clock_now_ns();
	thread->ahead.within_ns -= main_cpu_ns();
}

/*
 * Returns true if the thread spends more than 19/20 of its time in waits for batches. Also returns
 * true if the main thread has used more CPU time than this thread, and was on the CPU for more
 * than 1/20 of this thread's waits.
 */
static bool is_prefetching(const struct thread *thread)
{
	const uint64_t all_ns = clock_now_ns() - thread->ahead.since_ns;

	if (thread->ahead.count <= WATCHED_MIN)
		return false;
	if (all_ns - thread->ahead.waited_ns < all_ns / WORKS_LEAST)
		return true;
	return main_cpu_ns() > thread->ahead.main_ns + thread->ahead.own_ns &&
	       thread->ahead.within_ns > thread->ahead.waited_ns / WORKS_LEAST;
}

void ahead_watch_end(struct thread *thread)
{
	if (!is_watched(thread))
		return;
	thread->ahead.waited_ns += clock_now_ns();
	thread->ahead.within_ns += main_cpu_ns();
	if (!thread->ahead.count++) {
		thread->ahead.main_ns = main_cpu_ns();
		thread->ahead.since_ns = clock_now_ns();
		thread->ahead.waited_ns = thread->ahead.within_ns = 0;
	}
	if (is_prefetching(thread))
		doubt("a thread other than the main one takes batches from a DataLoader while the "
		      "main one works: if it prefetches for the training, these are its waits and "
		      "not the training's; " ELSE_NAME);
	thread->ahead.exit_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
