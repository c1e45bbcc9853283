/* SPDX-License-Identifier: Apache-2.0 */
#include "python/loaders/follow.h"

#include <string.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/table.h"
#include "batch/taker.h"
#include "python/interpreter/standin.h"
#include "python/interpreter/stop.h"
#include "python/loaders/tfdata.h"
#include "python/sample/steps.h"
#include "python/torch/handover.h"
#include "python/torch/iterator.h"

#define FOLLOWED_MAX 128

/* The iterators that are followed, by their address. The GIL guards them. */
struct followed {
	const void *object;
	PyObject *reference; /* weak reference; NULL: none */
	struct follow_what what;
	uint32_t life;
	uint32_t users; /* number of calls under way, or 1 if a stand-in owns the iterator */
	uint64_t used_ns; /* time of the last call; 0: free */
	bool gave_way;
	bool made; /* this loader made it, even if the object names another loader */
	struct consumer consumer;
};

TABLE(struct followed, followed, FOLLOWED_MAX)
static size_t followed_count;

static void drop(struct followed *one)
{
	if (one->life == thread_life)
		consumer_abandon(&one->consumer);
	if (one->reference)
		py.Py_DecRef(one->reference);
	memset(one, 0, sizeof(*one));
}

static bool is_gone(const struct followed *one)
{
	OWNED PyObject *object =
		one->reference ? py.PyObject_CallObject(one->reference, NULL) : NULL;

	if (!object)
		py.PyErr_Clear();
	return object && object == py.none;
}

/* Returns the entry of an object, made if there is none. NULL: none is free. */
static struct followed *find(const struct follow_what *what, const void *key, PyObject *object)
{
	struct followed *oldest = NULL;

	for (size_t i = 0; i < followed_count; i++) {
		struct followed *one = &followed()[i];
		const bool ours = one->life == thread_life && one->what.kind == what->kind &&
				  (one->what.loader == what->loader ||
				   (one->made && one->object == key));

		if (ours && !one->users && is_gone(one))
			drop(one);
		else if (ours && key && one->object == key)
			return one;
		if (one->users && one->life == thread_life)
			continue;
		if (!oldest || one->used_ns < oldest->used_ns)
			oldest = one;
	}
	if ((!oldest || oldest->used_ns) && followed_count < FOLLOWED_MAX && followed())
		oldest = &followed()[followed_count++];
	if (!oldest)
		return NULL;
	if (oldest->used_ns && oldest->life == thread_life && oldest->consumer.stream &&
	    !oldest->consumer.over && !is_gone(oldest))
		note_once('w', "dlprof tracks 128 iterators; beyond that it may count too many "
			       "epochs, each too short");
	drop(oldest);
	oldest->object = key;
	oldest->what = *what;
	oldest->life = thread_life;
	oldest->used_ns = clock_now_ns();
	if (object) {
		oldest->reference = py.PyWeakref_NewRef(object, NULL);
		py.PyErr_Clear();
	}
	return oldest;
}

static void begin_epoch(struct followed *one, uint64_t begin_ns)
{
	struct consumer_facts facts = {
		.kind = one->what.kind,
		.workers = -1,
		.dataset = one->what.loader,
		CONSUMER_OPAQUE,
	};

	if (one->consumer.stream && !one->consumer.over)
		return;
	if (one->what.loads) {
		facts.workers = 0;
		facts.flags = DLPROF_EPOCH_IN_ORDER;
		facts.opaque = false;
	}
	if (one->what.crew) {
		if (one->what.crew->gather((PyObject *)one->object, &facts))
			facts.flags &= ~(uint32_t)DLPROF_EPOCH_OPAQUE;
		facts.is_loader = !(facts.flags & DLPROF_EPOCH_OPAQUE);
		py.PyErr_Clear();
	}
	iterator_start(&one->consumer, &facts, begin_ns);
}

static PyObject *ask(struct followed *one, PyObject *callable, PyObject *args, PyObject *kwargs)
{
	struct thread *thread = one->what.loads ? thread_self : NULL;
	PyObject *batch;

	one->users++;
	tfdata_hold();
	/* If this thread has a stream, it loads the batch itself, so this call is a load. */
	if (thread && thread->load.stream)
		batch = loading_call(thread, 0, callable, args, kwargs);
	else
		batch = py.PyObject_Call(callable, args, kwargs);
	tfdata_release();
	return batch;
}

static void tell(struct followed *one, struct consumer_wait *wait, const PyObject *batch)
{
	struct consumer *consumer = &one->consumer;
	const bool ended = !batch && py.PyErr_ExceptionMatches(*py.stop_iteration);
	uint32_t task;

	one->used_ns = clock_now_ns();
	/* An iterator that is asked after its end begins no epoch. */
	if (ended && consumer->over) {
		consumer_wait_cancel(wait);
		return;
	}
	begin_epoch(one, wait->begin_ns);
	if (!batch) {
		consumer_wait_stop(consumer, wait, !ended);
		return;
	}
	task = one->what.crew ? one->what.crew->task((PyObject *)one->object, consumer)
			      : (uint32_t)consumer->ordinal;
	/* If the task is unknown, record a number so high that no loader reaches it. */
	consumer_wait_end(consumer, wait, task != FOLLOW_NO_TASK
						  ? task
						  : 1u << 31 | (uint32_t)consumer->ordinal);
}

/* Asks for a batch. A wait that an inner loader recorded is not recorded again. */
static PyObject *next_after(struct followed *one, PyObject *callable, PyObject *args,
			    PyObject *kwargs)
{
	const uint32_t life = thread_life;
	struct thread *thread = thread_get();
	const uint32_t count = thread ? thread->wait_count : 0;
	const uint64_t begin_ns = clock_now_ns();
	struct consumer_wait wait;
	PyObject *batch;

	if (one->what.ahead)
		handover_within(true);
	batch = ask(one, callable, args, kwargs);
	if (thread_life != life) /* this is a child that was forked in the call */
		return batch;
	one->users--;
	if (one->what.ahead && !batch)
		taker_ends(begin_ns);
	if (one->what.ahead)
		handover_within(false);
	one->gave_way |= !thread || thread->wait_count != count;
	if (one->gave_way)
		return batch;
	if (consumer_wait_begin(&one->consumer, &wait, begin_ns))
		tell(one, &wait, batch);
	return batch;
}

static PyObject *next(struct followed *one, PyObject *callable, PyObject *args, PyObject *kwargs)
{
	const uint32_t life = thread_life;
	struct consumer_wait wait;
	PyObject *batch;
	bool is_ahead;

	if (one->what.gives_way || one->what.ahead) {
		stop_look();
		return next_after(one, callable, args, kwargs);
	}
	is_ahead = handover_asks(one->consumer.stream);
	if (!is_ahead)
		stop_look();
	if (!one->consumer.over)
		begin_epoch(one, clock_now_ns());
	if (!consumer_wait_begin(&one->consumer, &wait, 0))
		return py.PyObject_Call(callable, args, kwargs);
	batch = ask(one, callable, args, kwargs);
	if (thread_life != life)
		return batch;
	one->users--;
	tell(one, &wait, batch);
	if (batch && unlikely(is_ahead))
		handover_took(batch);
	return batch;
}

static struct followed *find_made(const struct follow_what *what, const PyObject *object)
{
	for (size_t i = 0; object && i < followed_count; i++) {
		struct followed *one = &followed()[i];

		if (one->made && one->object == object && one->life == thread_life &&
		    one->what.loader == what->loader && !is_gone(one) && consumer_record())
			return one;
	}
	return NULL;
}

PyObject *follow_call(const struct follow_what *what, PyObject *object, PyObject *original,
		      PyObject *args, PyObject *kwargs)
{
	const void *key = object ? (const void *)object : what->loader;
	struct followed *one = NULL;

	if (what->only_made)
		one = consumer_is_inside() ? NULL : find_made(what, object);
	else if (!consumer_is_inside() && consumer_record())
		one = find(what, key, object);
	return one ? next(one, original, args, kwargs) : py.PyObject_Call(original, args, kwargs);
}

void follow_made(const struct follow_what *what, PyObject *object)
{
	struct followed *one = NULL;

	if (!consumer_is_inside() && consumer_record())
		one = find(what, object, object);
	if (!one)
		return;
	one->made = true;
	if (one->consumer.stream)
		consumer_abandon(&one->consumer);
}

PyObject *follow_make(const struct follow_what *what, PyObject *original, PyObject *args,
		      PyObject *kwargs)
{
	PyObject *made;

	if (consumer_is_inside() || !consumer_record())
		return py.PyObject_Call(original, args, kwargs);
	made = iterator_make(original, args, kwargs, 0);
	if (made)
		follow_made(what, made);
	return made;
}

#define CAPSULE "dlprof"

static struct api_name capsule_name = {"_dlprof", NULL};
static struct api_name next_name = {"__next__", NULL};

/* Returns true if the entry is the capsule's. Takes no lock, which a fork may have left taken. */
static bool is_of(const struct followed *one, const PyObject *capsule)
{
	return thread_is_in_life(one->life) && one->object == capsule;
}

static PyObject *on_next(PyObject *none, PyObject *args, PyObject *kwargs)
{
	OWNED PyObject *iterator = standin_original(args), *empty = py.PyTuple_New(0);
	OWNED PyObject *capsule =
		iterator ? standin_kept(py.PyTuple_GetItem(args, 0), &capsule_name) : NULL;
	PyObject *name = api_name(&next_name);
	OWNED PyObject *callable = capsule && name ? py.PyObject_GetAttr(iterator, name) : NULL;
	struct followed *one;

	if (!capsule)
		return NULL; /* not called on a stand-in of ours */
	one = py.PyCapsule_GetPointer(capsule, CAPSULE);
	if (!one || !empty || !callable)
		return NULL;
	/* In a forked child, the caller is not the training. */
	return is_of(one, capsule) && !consumer_is_inside() ? next(one, callable, empty, NULL)
						       : py.PyObject_Call(callable, empty, NULL);
}

static void on_gone(PyObject *capsule)
{
	struct followed *one = py.PyCapsule_GetPointer(capsule, CAPSULE);

	if (!one || !is_of(one, capsule))
		return;
	consumer_abandon(&one->consumer);
	one->users = 0;
	one->used_ns = 0;
	one->object = NULL;
}

/* Returns a stand-in, or the iterator itself if none can be made. */
static PyObject *wrap(PyObject *iterator, struct followed *one)
{
	static PyMethodDef next_method = {"__next__", on_next, PY_VARARGS_KEYWORDS, NULL};
	static PyMethodDef iter_method = {"__iter__", api_itself, PY_VARARGS_KEYWORDS, NULL};
	static PyMethodDef *const methods[] = {&next_method, &iter_method, NULL};
	static PyObject *class;
	OWNED PyObject *standing = NULL, *capsule = NULL;

	if (!class && api_has(iterator, next_name.text))
		class = standin_class("generator", methods, NULL);
	if (class && api_has(iterator, next_name.text))
		standing = standin_make(class, iterator);
	if (standing)
		capsule = py.PyCapsule_New(one, CAPSULE, on_gone);
	if (capsule) {
		one->object = capsule;
		one->users = 1;
	}
	if (!capsule || !standin_keep(standing, &capsule_name, capsule)) {
		py.PyErr_Clear();
		return iterator;
	}
	py.Py_DecRef(iterator); /* the stand-in keeps it alive */
	return api_take(&standing);
}

PyObject *follow_iterator(const struct follow_what *what, PyObject *iterator)
{
	struct followed *one = NULL;

	if (iterator && !consumer_is_inside() && consumer_record())
		one = find(what, NULL, NULL);
	return one ? wrap(iterator, one) : iterator;
}
