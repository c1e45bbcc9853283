/* SPDX-License-Identifier: Apache-2.0 */
#include "python/consumer.h"

#include <stdatomic.h>
#include <string.h>

#include "activate.h"
#include "clock.h"
#include "cuda/cudart.h"
#include "python/pipes.h"
#include "run.h"
#include "summary.h"
#include "sys.h"
#include "text.h"

/* Interned on first use: a look-up by a C string would make the string anew every time. */
static struct attribute {
	const char *name;
	PyObject *interned;
} iterator_attribute = {.name = "_dlprof_iterator"}, loader_attribute = {.name = "_dlprof_loader"};

#define LOADER_MAX 256
#define NAP_NS	   1000000
#define NAP_MAX	   200

/* Which loader an object is. What is copied with it, or into another process, is another one. */
struct mark {
	uint32_t number;
	uint32_t pid;
	const void *object;
};

/*
 * Loaders of this process; a loader's number is its place here, from 1. A loop that makes a new
 * DataLoader over the same dataset every epoch means one loader, so a new object takes up an old
 * number if dataset and settings are the same and nobody iterates over the old one. One that
 * shuffles is another than one that does not, and so is one whose dataset lies where another lay.
 */
static struct {
	const void *dataset;
	const void *classes[CONSUMER_PART_MAX];
	int64_t batch_size;
	int32_t workers;
	uint32_t epochs;
	uint32_t running;
	const char *ahead; /* kind of the iterator that it is asked for; NULL: of none */
} loaders[LOADER_MAX + 1];
static uint32_t loader_count;
static uint32_t loader_pid;

static _Atomic uint32_t stream_count;

/*
 * Not in vain while another thread is at it, in milliseconds and once: a loader that does not get
 * to record now is not seen for an epoch, nor are the workers that it forks.
 */
bool consumer_record(void)
{
	static _Atomic uint32_t nap_count; /* of all threads of the process together */

	if (activate_on())
		return true;
	while (!activate()) {
		if (!activate_busy() || nap_count++ >= NAP_MAX)
			return false;
		sys_nap(NAP_NS);
		if (activate_on())
			return true;
	}
	return true;
}

bool consumer_activate(void)
{
	/* This loader says more than its pipes. */
	if (unlikely(pipes_watch))
		pipes_watch = 0;
	return consumer_record();
}

/* Zeroed memory of `size` bytes that belongs to `object`; kept under the attribute. */
static void *memory_of(PyObject *object, struct attribute *attribute, ssize_t size, bool make)
{
	static const char zeroes[sizeof(struct consumer)];
	PyObject *bytes;
	void *memory;

	if (unlikely(!attribute->interned))
		attribute->interned = py.PyUnicode_InternFromString(attribute->name);
	if (!attribute->interned) {
		py.PyErr_Clear();
		return NULL;
	}
	bytes = api_get(object, attribute->interned);
	if (!bytes && make) {
		bytes = py.PyByteArray_FromStringAndSize(zeroes, size);
		if (bytes && py.PyObject_SetAttr(object, attribute->interned, bytes) < 0) {
			py.Py_DecRef(bytes);
			bytes = NULL;
		}
		if (!bytes)
			py.PyErr_Clear();
	}
	if (!bytes)
		return NULL;
	memory = api_bytearray(bytes, size);
	py.Py_DecRef(bytes);	/* the object keeps it */
	return memory;
}

struct consumer *consumer_of(PyObject *iterator)
{
	return memory_of(iterator, &iterator_attribute, sizeof(struct consumer), false);
}

void consumer_skip(PyObject *iterator, bool skips)
{
	struct consumer *consumer =
		memory_of(iterator, &iterator_attribute, sizeof(*consumer), skips);

	if (consumer)
		consumer->skipping = skips;
}

/* Unique in the run: the pid tells processes apart, the count what one process makes. */
static uint64_t local_stream(void)
{
	return DLPROF_STREAM_LOCAL | (uint64_t)sys_getpid() << 32 |
	       atomic_fetch_add(&stream_count, 1);
}

static uint32_t find_loader(const struct consumer_facts *facts)
{
	uint32_t last = loader_count < LOADER_MAX ? loader_count : LOADER_MAX;

	for (uint32_t i = 1; facts->dataset && i <= last; i++)
		if (loaders[i].dataset == facts->dataset && !loaders[i].running &&
		    loaders[i].batch_size == facts->batch_size &&
		    loaders[i].workers == facts->workers &&
		    memcmp(loaders[i].classes, facts->classes, sizeof(facts->classes)) == 0)
			return i;
	loader_count++;
	if (loader_count <= LOADER_MAX) {
		loaders[loader_count].dataset = facts->dataset;
		memcpy(loaders[loader_count].classes, facts->classes, sizeof(facts->classes));
		loaders[loader_count].batch_size = facts->batch_size;
		loaders[loader_count].workers = facts->workers;
	}
	return loader_count;
}

/* Of `loaders`: threads of a framework come here without the GIL. */
static _Atomic uint32_t loaders_busy;

bool consumer_has_loader(void)
{
	return loader_count && loader_pid == (uint32_t)sys_getpid();
}

/* With the GIL if there is an object, as all of this file that takes one. */
static void number_loader(struct consumer *consumer, PyObject *object,
			  const struct consumer_facts *facts)
{
	uint32_t pid = (uint32_t)sys_getpid();
	struct mark *mark = NULL;

	if (object)
		mark = memory_of(object, &loader_attribute, sizeof(*mark), true);
	thread_lock(&loaders_busy);
	if (loader_pid != pid) {
		memset(loaders, 0, sizeof(loaders));
		loader_count = 0;
		loader_pid = pid;
	}
	if (mark && mark->number && mark->pid == pid && mark->object == object)
		consumer->loader = mark->number;
	else
		consumer->loader = find_loader(facts);
	if (mark)
		*mark = (struct mark){consumer->loader, pid, object};
	consumer->epoch = 0;
	if (consumer->loader <= LOADER_MAX) {
		if (facts->ahead)
			loaders[consumer->loader].ahead = facts->ahead;
		consumer->epoch = loaders[consumer->loader].epochs++;
		loaders[consumer->loader].running++;
	}
	thread_unlock(&loaders_busy);
}

/* Its iterator ran to the end. */
static void end_epoch(const struct consumer *consumer)
{
	thread_lock(&loaders_busy);
	if (consumer->loader <= LOADER_MAX && loader_pid == (uint32_t)sys_getpid() &&
	    loaders[consumer->loader].running)
		loaders[consumer->loader].running--;
	thread_unlock(&loaders_busy);
}

bool consumer_is_ahead(const struct consumer *consumer, const char *kind)
{
	const uint32_t number = consumer->loader;
	bool changed;

	if (number > LOADER_MAX || loader_pid != (uint32_t)sys_getpid())
		return false;
	changed = loaders[number].ahead != kind;
	loaders[number].ahead = kind;
	return changed;
}

void consumer_announce(const struct consumer *consumer, const struct consumer_facts *facts,
		       uint64_t begin_ns)
{
	const char *ahead = consumer->loader <= LOADER_MAX ? loaders[consumer->loader].ahead : NULL;
	struct thread *thread = thread_get();
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_EPOCH,
		.worker = -1,
		.begin_ns = begin_ns,
		.duration_ns = clock_now_ns() - begin_ns,
		.stream = consumer->stream,
		.generation = consumer->generation,
		.epoch = {
			.loader = consumer->loader,
			.epoch = consumer->epoch,
			.workers = ahead && !facts->workers ? 1 : facts->workers,
			.prefetch_factor = facts->prefetch_factor,
			.batch_size = facts->batch_size,
			.flags = facts->flags,
		},
	};
	struct text kind;

	text_init(&kind, event.epoch.kind, sizeof(event.epoch.kind));
	text_add(&kind, ahead ? ahead : facts->kind);
	if (thread)
		thread_push(thread, &event);
}

void consumer_begin(struct consumer *consumer, const struct consumer_facts *facts,
		    uint64_t begin_ns)
{
	if (consumer->stream)
		consumer->generation++;
	else
		consumer->stream = facts->stream ? facts->stream : local_stream();
	consumer->workers = facts->workers < 0 ? CONSUMER_WORKERS_UNKNOWN : facts->workers;
	consumer->in_order = facts->flags & DLPROF_EPOCH_IN_ORDER;
	consumer->receive_ns = facts->opaque ? UINT64_MAX : 0;
	consumer->ordinal = 0;
	consumer->exit_ns = 0;
	consumer->over = false;
	consumer_announce(consumer, facts, begin_ns);
}

void consumer_abandon(struct consumer *consumer)
{
	if (consumer->stream && !consumer->over)
		end_epoch(consumer);
	consumer->over = true;
}

void consumer_start(struct consumer *consumer, const struct consumer_facts *facts,
		    uint64_t begin_ns)
{
	number_loader(consumer, NULL, facts);
	consumer_begin(consumer, facts, begin_ns);
}

struct consumer *consumer_epoch(PyObject *iterator, PyObject *loader,
				const struct consumer_facts *facts, uint64_t begin_ns)
{
	struct consumer *consumer = memory_of(iterator, &iterator_attribute, sizeof(*consumer),
					      true);

	if (!consumer)
		return NULL;
	number_loader(consumer, loader, facts);
	consumer_begin(consumer, facts, begin_ns);
	return consumer;
}

bool consumer_wait_begin_at(struct consumer *consumer, struct consumer_wait *wait,
			    uint64_t begin_ns)
{
	struct thread *thread = thread_get();

	if (!thread)
		return false;
	cudart_new_step(thread);
	wait->thread = thread;
	wait->life = thread_life;
	wait->stream = thread->stream;
	wait->generation = thread->generation;
	wait->task = thread->task;
	wait->waited_ns = thread->waited_ns;
	/* Without workers the fetch happens in here, on this thread. */
	thread->stream = consumer->workers == 0 ? consumer->stream : 0;
	thread->generation = consumer->generation;
	thread->task = (uint32_t)consumer->ordinal;
	thread->wait_depth++;
	if (consumer->receive_ns != UINT64_MAX)
		consumer->receive_ns = 0;
	wait->begin_ns = begin_ns ? begin_ns : clock_now_ns();
	if (consumer->exit_ns && consumer->ordinal > (uint64_t)consumer->workers &&
	    consumer->ordinal > 1 && wait->begin_ns > consumer->exit_ns)
		summary_compute(wait->begin_ns - consumer->exit_ns);
	return true;
}

bool consumer_wait_begin(struct consumer *consumer, struct consumer_wait *wait)
{
	return consumer_wait_begin_at(consumer, wait, 0);
}

/*
 * A dataset may iterate over a loader of its own: only the outermost wait is the thread's. Of a
 * wait that another thread began, and did not end, its state is that one's own affair, and so is
 * its ring. The thread whose ring to take; NULL: none.
 */
static struct thread *leave(struct consumer_wait *wait, uint64_t end_ns)
{
	struct thread *thread = thread_is_in_life(wait->life) ? thread_get() : NULL;

	if (!thread || thread != wait->thread)
		return thread;
	thread->stream = wait->stream;
	thread->generation = wait->generation;
	thread->task = wait->task;
	thread->wait_count++;
	if (--thread->wait_depth == 0)
		thread->waited_ns += end_ns - wait->begin_ns;
	return thread;
}

void consumer_wait_end(struct consumer *consumer, struct consumer_wait *wait, uint32_t task)
{
	uint64_t end_ns = clock_now_ns();
	struct thread *thread;
	uint32_t at = task % CONSUMER_ARRIVAL_MAX;
	bool arrived = consumer->arrivals[at].ns && consumer->arrivals[at].task == task &&
		       consumer->arrivals[at].generation == consumer->generation;
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_BATCH,
		.worker = -1,
		.begin_ns = wait->begin_ns,
		.duration_ns = end_ns - wait->begin_ns,
		.stream = consumer->stream,
		.generation = consumer->generation,
		.task = task,
		.batch = {
			.ordinal = consumer->ordinal,
			.ask_ns = arrived ? consumer->arrivals[at].ask_ns : 0,
			.arrive_ns = arrived ? consumer->arrivals[at].ns : 0,
			.receive_ns = consumer->receive_ns,
			.waited_ns = wait->waited_ns,
			.arrived = arrived,
		},
	};

	thread = leave(wait, end_ns);
	if (!thread)
		return;
	thread_push(thread, &event);
	summary_batch(event.duration_ns, consumer->ordinal >= (uint64_t)consumer->workers &&
					 consumer->ordinal > 0);
	run_watch(end_ns);
	consumer->ordinal++;
	consumer->exit_ns = end_ns;
}

void consumer_wait_stop(struct consumer *consumer, struct consumer_wait *wait, bool failed)
{
	uint64_t end_ns = clock_now_ns();
	struct thread *thread;
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_STOP,
		.flags = failed ? DLPROF_FLAG_FAILED : 0,
		.worker = -1,
		.begin_ns = wait->begin_ns,
		.duration_ns = end_ns - wait->begin_ns,
		.stream = consumer->stream,
		.generation = consumer->generation,
		.batch = {.waited_ns = wait->waited_ns},
	};

	thread = leave(wait, end_ns);
	if (!thread)
		return;
	thread_push(thread, &event);
	if (!failed && !consumer->over)
		end_epoch(consumer);
	consumer->exit_ns = 0;
	consumer->over = !failed;
}

void consumer_stop_at(const struct consumer *consumer, uint64_t now_ns)
{
	struct thread *thread = thread_get();
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_STOP,
		.worker = -1,
		.begin_ns = now_ns,
		.stream = consumer->stream,
		.generation = consumer->generation,
	};

	if (!thread)
		return;
	event.batch.waited_ns = thread->waited_ns;
	thread_push(thread, &event);
}

void consumer_wait_cancel(struct consumer_wait *wait)
{
	leave(wait, clock_now_ns());
}

void consumer_receive_begin(struct consumer_receive *receive, struct thread *thread)
{
	receive->thread = thread;
	receive->life = thread_life;
	receive->ask_ns = clock_now_ns();
	thread->receiving = true;
	thread->receive_begin_ns = 0;
}

void consumer_receive_end(struct consumer *consumer, struct consumer_receive *receive, int64_t task)
{
	struct thread *thread = receive->thread;
	uint64_t now_ns = clock_now_ns();
	uint32_t at = (uint32_t)task % CONSUMER_ARRIVAL_MAX;

	if (!thread_is_in_life(receive->life))
		return;
	thread->receiving = false;
	if (thread->receive_begin_ns)
		consumer->receive_ns += now_ns - thread->receive_begin_ns;
	if (task < 0 || task > UINT32_MAX)
		return;
	consumer->last_task = (uint32_t)task;
	consumer->arrivals[at].ask_ns = receive->ask_ns;
	consumer->arrivals[at].ns = now_ns;
	consumer->arrivals[at].task = (uint32_t)task;
	consumer->arrivals[at].generation = consumer->generation;
}
