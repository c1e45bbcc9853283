/* SPDX-License-Identifier: Apache-2.0 */
#include "python/follow.h"

#include <string.h>

#include "base/clock.h"
#include "base/note.h"
#include "batch/consumer.h"
#include "python/relay.h"
#include "python/tfdata.h"
#include "record/activate.h"

#define FOLLOWED_MAX 128

/*
 * An iterator that is followed. Known by its address, so that nothing is put into objects of the
 * user's. Where it cannot be referred to weakly, one at the address of another that is gone goes on
 * where that one stopped, in a new epoch if that one came to its end. Under the GIL.
 */
static struct followed {
	const void *object;
	PyObject *reference; /* weak; NULL: none */
	struct follow_what what;
	uint32_t life;
	uint32_t users; /* threads in a call of it; the proxy that owns it */
	uint64_t used_ns; /* 0: free */
	bool gave_way;
	struct consumer consumer;
} followed[FOLLOWED_MAX];
static size_t followed_count; /* that were ever in use */

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
	PyObject *object = one->reference ? py.PyObject_CallObject(one->reference, NULL) : NULL;

	if (!object) {
		py.PyErr_Clear();
		return false;
	}
	py.Py_DecRef(object);
	return object == py.none;
}

static void note_crowd(const struct followed *one)
{
	static bool noted;

	if (noted || !one->used_ns || one->life != thread_life || !one->consumer.stream ||
	    one->consumer.over || is_gone(one))
		return;
	noted = true;
	note_add('w', "so many iterators are asked in turn that some are taken for new ones: "
			  "there are fewer epochs than are told, and more batches in each");
}

/*
 * The one of this object, or a new one in place of one that is gone, or was not used for longest.
 * NULL: all are in use. An iterator of the same loader that was left half-way is not asked again
 * once it is gone, so the loader's next epoch can begin.
 */
static struct followed *find(const struct follow_what *what, const void *key, PyObject *object)
{
	struct followed *oldest = NULL;

	for (size_t i = 0; i < followed_count; i++) {
		struct followed *one = &followed[i];
		const bool ours = one->life == thread_life && one->what.kind == what->kind &&
				  one->what.loader == what->loader;

		if (ours && !one->users && is_gone(one))
			drop(one);
		else if (ours && key && one->object == key)
			return one;
		if (one->users && one->life == thread_life)
			continue;
		if (!oldest || one->used_ns < oldest->used_ns)
			oldest = one;
	}
	if ((!oldest || oldest->used_ns) && followed_count < FOLLOWED_MAX)
		oldest = &followed[followed_count++];
	if (!oldest)
		return NULL;
	note_crowd(oldest);
	drop(oldest);
	oldest->object = key;
	oldest->what = *what;
	oldest->life = thread_life;
	oldest->used_ns = clock_now_ns();
	if (object && py.none) {
		oldest->reference = py.PyWeakref_NewRef(object, NULL);
		py.PyErr_Clear();
	}
	return oldest;
}

static void begin_epoch(struct followed *one, uint64_t begin_ns)
{
	const struct consumer_facts facts = {
		.kind = one->what.kind,
		.workers = -1,
		.prefetch_factor = -1,
		.batch_size = -1,
		.flags = DLPROF_EPOCH_OPAQUE,
		.dataset = one->what.loader,
		.opaque = true,
	};

	if (!one->consumer.stream || one->consumer.over)
		consumer_start(&one->consumer, &facts, begin_ns);
}

static PyObject *ask(struct followed *one, PyObject *callable, PyObject *args, PyObject *kwargs)
{
	PyObject *batch;

	one->users++;
	tfdata_hold();
	batch = py.PyObject_Call(callable, args, kwargs);
	tfdata_release();
	return batch;
}

static void tell(struct followed *one, struct consumer_wait *wait, const PyObject *batch)
{
	struct consumer *consumer = &one->consumer;
	const bool ended = !batch && py.PyErr_ExceptionMatches(*py.stop_iteration);

	one->used_ns = clock_now_ns();
	/* Who is at its end may say so as often as it is asked: that is no epoch of its own. */
	if (ended && consumer->over) {
		consumer_wait_cancel(wait);
		return;
	}
	begin_epoch(one, wait->begin_ns);
	if (batch)
		consumer_wait_end(consumer, wait, (uint32_t)consumer->ordinal);
	else
		consumer_wait_stop(consumer, wait, !ended);
}

static enum relay_answer answer_of(const PyObject *batch)
{
	if (batch)
		return RELAY_BATCH;
	return py.PyErr_ExceptionMatches(*py.stop_iteration) ? RELAY_ENDED : RELAY_FAILED;
}

/* What it is made of is told of first, and if it is followed, it is all there is to tell. */
static PyObject *next_after(struct followed *one, PyObject *callable, PyObject *args,
			    PyObject *kwargs)
{
	const uint32_t life = thread_life;
	struct thread *thread = thread_get();
	const uint32_t count = thread ? thread->wait_count : 0;
	const uint64_t begin_ns = clock_now_ns();
	struct consumer_wait wait;
	PyObject *batch = ask(one, callable, args, kwargs);

	if (thread_life != life) /* a fork returned into this child */
		return batch;
	one->users--;
	if (one->what.ahead && relay_tell(one->what.ahead, begin_ns, answer_of(batch)))
		return batch;
	one->gave_way |= !thread || thread->wait_count != count;
	if (one->gave_way)
		return batch;
	if (consumer_wait_begin_at(&one->consumer, &wait, begin_ns))
		tell(one, &wait, batch);
	return batch;
}

/* One batch of `one`, or no more of them. */
static PyObject *next(struct followed *one, PyObject *callable, PyObject *args, PyObject *kwargs)
{
	const uint32_t life = thread_life;
	struct consumer_wait wait;
	PyObject *batch;

	if (one->what.gives_way || one->what.ahead)
		return next_after(one, callable, args, kwargs);
	if (!one->consumer.over)
		begin_epoch(one, clock_now_ns());
	if (!consumer_wait_begin(&one->consumer, &wait))
		return py.PyObject_Call(callable, args, kwargs);
	batch = ask(one, callable, args, kwargs);
	if (thread_life != life)
		return batch;
	one->users--;
	tell(one, &wait, batch);
	return batch;
}

bool follow_inside(void)
{
	const struct thread *thread = activate_on() ? thread_self : NULL;

	return relay_kind_here() ||
	       (thread && thread->life == thread_life &&
		(thread->wait_depth || thread->load_depth || thread->worker >= 0));
}

PyObject *follow_call(const struct follow_what *what, PyObject *object, PyObject *original,
		      PyObject *args, PyObject *kwargs)
{
	struct followed *one = NULL;

	if (!follow_inside() && consumer_record())
		one = find(what, object ? (const void *)object : (const void *)what->loader,
			   object);
	if (!one)
		return py.PyObject_Call(original, args, kwargs);
	return next(one, original, args, kwargs);
}

void follow_made(const struct follow_what *what, PyObject *object)
{
	struct followed *one = NULL;

	if (!follow_inside() && consumer_record())
		one = find(what, object, object);
	if (one && one->consumer.stream)
		consumer_abandon(&one->consumer);
}

PyObject *follow_make(const struct follow_what *what, PyObject *original, PyObject *args,
		      PyObject *kwargs)
{
	struct consumer_wait wait;
	const bool is_timed =
		!follow_inside() && consumer_record() && consumer_iter_begin(&wait, 0);
	PyObject *made = py.PyObject_Call(original, args, kwargs);

	if (is_timed)
		consumer_iter_end(&wait);
	if (made && is_timed)
		follow_made(what, made);
	return made;
}

/* Of this kind, or, if that is NULL, of this loader. */
static struct followed *made_of(const char *kind, const void *loader, const PyObject *object)
{
	for (size_t i = 0; object && !follow_inside() && i < followed_count; i++) {
		struct followed *one = &followed[i];

		if (one->object == object && one->life == thread_life &&
		    (kind ? one->what.kind == kind : one->what.loader == loader) && !is_gone(one) &&
		    consumer_record())
			return one;
	}
	return NULL;
}

PyObject *follow_made_call(const struct follow_what *what, PyObject *object, PyObject *original,
			   PyObject *args, PyObject *kwargs)
{
	struct followed *one = made_of(NULL, what->loader, object);

	return one ? next(one, original, args, kwargs) : py.PyObject_Call(original, args, kwargs);
}

PyObject *follow_told_call(const struct follow_what *what, PyObject *object, PyObject *original,
			   PyObject *args, PyObject *kwargs)
{
	struct followed *one = made_of(what->kind, NULL, object);

	return one ? next(one, original, args, kwargs)
		   : follow_call(what, object, original, args, kwargs);
}

/*
 * What is handed out instead of a generator: __next__ and __iter__ are ours, all else is the
 * generator's. Its attribute `_dlprof` is (generator, its __next__, capsule of its struct
 * followed).
 */
#define CAPSULE "dlprof"

static PyObject *proxy_class;

static PyObject *item(PyObject *proxy, ssize_t at)
{
	PyObject *state = proxy ? api_get_named(proxy, "_dlprof") : NULL;
	PyObject *value = state ? py.PyTuple_GetItem(state, at) : NULL;

	if (state)
		py.Py_DecRef(state); /* the proxy keeps it, and it keeps the item */
	return value;
}

/* Raises AttributeError: of something that surely has no such attribute. */
static PyObject *no_such_attribute(void)
{
	return py.PyObject_GetAttrString(*py.stop_iteration, "_dlprof");
}

/*
 * A forked child has its parent's proxies, and other iterators of its own in their places. Before
 * it records it takes no lock: a thread that is not here may have had it at the fork.
 */
static bool is_of(const struct followed *one, const PyObject *capsule)
{
	return thread_is_in_life(one->life) && one->object == capsule;
}

static PyObject *on_proxy_next(PyObject *none, PyObject *args, PyObject *kwargs)
{
	PyObject *proxy = py.PyTuple_GetItem(args, 0);
	PyObject *capsule = item(proxy, 2), *callable = item(proxy, 1);
	PyObject *empty, *batch;
	struct followed *one;

	(void)none;
	(void)kwargs;
	if (!capsule || !callable)
		return no_such_attribute(); /* called with nothing of ours */
	one = py.PyCapsule_GetPointer(capsule, CAPSULE);
	empty = py.PyTuple_Pack(0);
	if (!one || !empty)
		return NULL;
	/* In a forked child the batches are of nobody that trains. */
	if (is_of(one, capsule) && !follow_inside())
		batch = next(one, callable, empty, NULL);
	else
		batch = py.PyObject_Call(callable, empty, NULL);
	py.Py_DecRef(empty);
	return batch;
}

/* Called for what the proxy does not have: send, throw, close, ... */
static PyObject *on_proxy_attribute(PyObject *none, PyObject *args, PyObject *kwargs)
{
	PyObject *proxy = py.PyTuple_GetItem(args, 0), *name = py.PyTuple_GetItem(args, 1);
	PyObject *generator;

	(void)none;
	(void)kwargs;
	/* Of itself it has all but a `_dlprof` that is not set yet: that would look for itself. */
	if (!proxy || !name || py.PyUnicode_CompareWithASCIIString(name, "_dlprof") == 0)
		generator = NULL;
	else
		generator = item(proxy, 0);
	return generator ? py.PyObject_GetAttr(generator, name) : no_such_attribute();
}

/* Whoever asks whether it is a generator is to hear what it was without us. */
static PyObject *on_proxy_class(PyObject *none, PyObject *args, PyObject *kwargs)
{
	PyObject *proxy = py.PyTuple_GetItem(args, 0);
	PyObject *generator = item(proxy, 0);

	(void)none;
	(void)kwargs;
	if (!proxy)
		return NULL;
	return py.PyObject_Type(generator ? generator : proxy);
}

/* Its iterator is gone: run to the end, or left half-way. */
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

static bool set_method(PyObject *dict, PyMethodDef *method)
{
	PyObject *function = py.PyCFunction_NewEx(method, NULL, NULL);
	PyObject *bound = function ? py.PyInstanceMethod_New(function) : NULL;
	bool set = bound && py.PyDict_SetItemString(dict, method->ml_name, bound) == 0;

	if (function)
		py.Py_DecRef(function);
	if (bound)
		py.Py_DecRef(bound);
	return set;
}

static bool set_property(PyObject *dict, PyMethodDef *method)
{
	PyObject *function = py.PyCFunction_NewEx(method, NULL, NULL);
	PyObject *args = function ? py.PyTuple_Pack(1, function) : NULL;
	PyObject *property = args ? py.PyObject_Call(py.property_type, args, NULL) : NULL;
	bool set = property && py.PyDict_SetItemString(dict, method->ml_name, property) == 0;

	for (PyObject **left = (PyObject *[]){function, args, property}, **end = left + 3;
	     left < end; left++)
		if (*left)
			py.Py_DecRef(*left);
	return set;
}

/* type("generator", (), {...}), once. */
static PyObject *make_class(void)
{
	static PyMethodDef methods[] = {
		{"__next__", on_proxy_next, PY_VARARGS_KEYWORDS, NULL},
		{"__iter__", api_itself, PY_VARARGS_KEYWORDS, NULL},
		{"__getattr__", on_proxy_attribute, PY_VARARGS_KEYWORDS, NULL},
	};
	static PyMethodDef class_method = {"__class__", on_proxy_class, PY_VARARGS_KEYWORDS, NULL};
	PyObject *dict = py.PyDict_New(), *name = py.PyUnicode_FromString("generator");
	PyObject *bases = py.PyTuple_Pack(0), *args = NULL, *class = NULL, *type = NULL;
	bool set = dict && name && bases;

	for (size_t i = 0; set && i < sizeof(methods) / sizeof(methods[0]); i++)
		set = set_method(dict, &methods[i]);
	if (set && set_property(dict, &class_method))
		args = py.PyTuple_Pack(3, name, bases, dict);
	if (args)
		type = py.PyObject_Type(*py.stop_iteration);
	if (type)
		class = py.PyObject_Call(type, args, NULL);
	for (PyObject **left = (PyObject *[]){dict, name, bases, args, type, NULL},
		      **end = left + 5;
	     left < end; left++)
		if (*left)
			py.Py_DecRef(*left);
	return class;
}

/* The proxy of a generator, which it takes; the generator itself if that cannot be made. */
static PyObject *wrap(PyObject *generator, struct followed *one)
{
	PyObject *callable = api_get_named(generator, "__next__");
	PyObject *capsule = NULL, *state = NULL, *empty = NULL, *proxy = NULL;
	bool set = false;

	if (callable && !proxy_class)
		proxy_class = make_class();
	if (callable && proxy_class)
		capsule = py.PyCapsule_New(one, CAPSULE, on_gone);
	if (capsule) {
		one->object = capsule;
		one->users = 1;
		state = py.PyTuple_Pack(3, generator, callable, capsule);
		empty = py.PyTuple_Pack(0);
	}
	if (state && empty)
		proxy = py.PyObject_Call(proxy_class, empty, NULL);
	if (proxy)
		set = py.PyObject_SetAttrString(proxy, "_dlprof", state) == 0;
	py.PyErr_Clear();
	for (PyObject **left = (PyObject *[]){callable, capsule, state, empty}, **end = left + 4;
	     left < end; left++)
		if (*left)
			py.Py_DecRef(*left);
	if (set) {
		py.Py_DecRef(generator); /* the state keeps it */
		return proxy;
	}
	if (proxy)
		py.Py_DecRef(proxy);
	return generator;
}

PyObject *follow_iterator(const struct follow_what *what, PyObject *iterator)
{
	struct followed *one = NULL;

	if (iterator && !follow_inside() && consumer_record())
		one = find(what, NULL, NULL);
	return one ? wrap(iterator, one) : iterator;
}
