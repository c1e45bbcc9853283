/* SPDX-License-Identifier: Apache-2.0 */
#include "python/batch_fn.h"

#include <string.h>

#include "activate.h"
#include "clock.h"
#include "config.h"
#include "python/consumer.h"
#include "python/patch.h"
#include "sys.h"
#include "text.h"

#define FOLLOWED_MAX 32
#define CO_GENERATOR 0x20
#define CO_ASYNC     (0x80 | 0x200) /* CO_COROUTINE, CO_ASYNC_GENERATOR */

/* What the variable says. */
static struct {
	char module[CONFIG_BATCH_FN_MAX];
	char where[CONFIG_BATCH_FN_MAX]; /* "module:Class", or "module" */
	char owner[CONFIG_BATCH_FN_MAX]; /* "Class", "Outer.Inner", or "" */
	char name[CONFIG_BATCH_FN_MAX];
} target;

bool batch_fn_pending;

/*
 * An iterator that is followed. Known by its address, so that nothing is put into objects of the
 * user's: one at the address of another that is gone goes on where that one stopped, in a new epoch
 * if that one came to its end. Under the GIL, as all of consumer.c.
 */
static struct followed {
	const void *object;
	uint32_t life;
	uint32_t users; /* threads in a call of it; the proxy that owns it */
	uint64_t used_ns;
	struct consumer consumer;
} followed[FOLLOWED_MAX];

const char *batch_fn_module(void)
{
	const char *value = config_batch_fn();
	const char *colon, *dot;

	if (!value)
		return NULL;
	colon = strchr(value, ':');
	dot = strrchr(colon, '.');
	memcpy(target.module, value, (size_t)(colon - value));
	if (dot) {
		memcpy(target.where, value, (size_t)(dot - value));
		memcpy(target.owner, colon + 1, (size_t)(dot - colon - 1));
	} else {
		strcpy(target.where, target.module);
	}
	strcpy(target.name, (dot ? dot : colon) + 1);
	batch_fn_pending = strcmp(target.module, "__main__") == 0 && !target.owner[0];
	return target.module;
}

/* The one of this object, or the one that was not used for longest. NULL: all are in use. */
static struct followed *find(const void *object)
{
	struct followed *oldest = NULL;

	for (size_t i = 0; i < FOLLOWED_MAX; i++) {
		struct followed *one = &followed[i];

		if (object && one->object == object && one->life == thread_life)
			return one;
		if (one->users && one->life == thread_life)
			continue;
		if (!oldest || one->used_ns < oldest->used_ns)
			oldest = one;
	}
	if (!oldest)
		return NULL;
	if (oldest->life == thread_life)
		consumer_abandon(&oldest->consumer);
	memset(oldest, 0, sizeof(*oldest));
	oldest->object = object;
	oldest->life = thread_life;
	return oldest;
}

static void begin_epoch(struct followed *one)
{
	const struct consumer_facts facts = {
		.kind = "batch_fn",
		.workers = -1,
		.prefetch_factor = -1,
		.batch_size = -1,
		.flags = DLPROF_EPOCH_OPAQUE,
		.dataset = &target,
		.opaque = true,
	};

	consumer_start(&one->consumer, &facts, clock_now_ns());
}

/* One batch of `one`, or no more of them. */
static PyObject *next(struct followed *one, PyObject *callable, PyObject *args, PyObject *kwargs)
{
	const uint32_t life = thread_life;
	struct consumer *consumer = &one->consumer;
	struct consumer_wait wait;
	PyObject *batch;

	if (!consumer->stream || consumer->over)
		begin_epoch(one);
	if (!consumer_wait_begin(consumer, &wait))
		return py.PyObject_Call(callable, args, kwargs);
	one->users++;
	batch = py.PyObject_Call(callable, args, kwargs);
	if (thread_life != life) /* a fork returned into this child */
		return batch;
	one->users--;
	one->used_ns = clock_now_ns();
	if (batch)
		consumer_wait_end(consumer, &wait, (uint32_t)consumer->ordinal);
	else
		consumer_wait_stop(consumer, &wait, !py.PyErr_ExceptionMatches(*py.stop_iteration));
	return batch;
}

/* Called as what `object` is to be known by. */
static PyObject *follow(PyObject *original, PyObject *args, PyObject *kwargs, const void *object)
{
	struct followed *one = consumer_activate() ? find(object) : NULL;

	if (!one)
		return py.PyObject_Call(original, args, kwargs);
	return next(one, original, args, kwargs);
}

static PyObject *on_method(PyObject *original, PyObject *args, PyObject *kwargs)
{
	const void *object = py.PyTuple_GetItem(args, 0);

	py.PyErr_Clear();
	return follow(original, args, kwargs, object ? object : &target);
}

static PyObject *on_function(PyObject *original, PyObject *args, PyObject *kwargs)
{
	return follow(original, args, kwargs, &target);
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
	if (one->life == thread_life && activate_on())
		batch = next(one, callable, empty, NULL);
	else
		batch = py.PyObject_Call(callable, empty, NULL);
	py.Py_DecRef(empty);
	return batch;
}

static PyObject *on_proxy_iter(PyObject *none, PyObject *args, PyObject *kwargs)
{
	PyObject *proxy = py.PyTuple_GetItem(args, 0);

	(void)none;
	(void)kwargs;
	if (proxy)
		py.Py_IncRef(proxy);
	return proxy;
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

/* Its iterator is gone: run to the end, or left half-way. */
static void on_gone(PyObject *capsule)
{
	struct followed *one = py.PyCapsule_GetPointer(capsule, CAPSULE);

	if (!one || one->object || one->life != thread_life)
		return; /* of the parent of this forked child */
	consumer_abandon(&one->consumer);
	one->users = 0;
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

/* type("generator", (), {...}), once. */
static PyObject *make_class(void)
{
	static PyMethodDef methods[] = {
		{"__next__", on_proxy_next, PY_VARARGS_KEYWORDS, NULL},
		{"__iter__", on_proxy_iter, PY_VARARGS_KEYWORDS, NULL},
		{"__getattr__", on_proxy_attribute, PY_VARARGS_KEYWORDS, NULL},
	};
	PyObject *dict = py.PyDict_New(), *name = py.PyUnicode_FromString("generator");
	PyObject *bases = py.PyTuple_Pack(0), *args = NULL, *class = NULL, *type = NULL;
	bool set = dict && name && bases;

	for (size_t i = 0; set && i < sizeof(methods) / sizeof(methods[0]); i++)
		set = set_method(dict, &methods[i]);
	if (set)
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

/* A generator function or an __iter__: a new epoch. */
static PyObject *on_make(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *generator = py.PyObject_Call(original, args, kwargs);
	struct followed *one = generator && consumer_activate() ? find(NULL) : NULL;

	return one ? wrap(generator, one) : generator;
}

/* What the class itself has under that name, past the descriptor; NULL: nothing. New reference. */
static PyObject *raw_attribute(PyObject *class)
{
	PyObject *order = api_get_named(class, "__mro__"), *found = NULL;
	ssize_t count = order ? py.PyTuple_Size(order) : 0;

	for (ssize_t i = 0; i < count && !found; i++) {
		PyObject *dict = api_get_named(py.PyTuple_GetItem(order, i), "__dict__");

		found = dict ? py.PyMapping_GetItemString(dict, target.name) : NULL;
		py.PyErr_Clear();
		if (dict)
			py.Py_DecRef(dict);
	}
	if (order)
		py.Py_DecRef(order);
	py.PyErr_Clear();
	return found;
}

static bool is_of_type(PyObject *object, const char *const *names)
{
	PyObject *type = object ? py.PyObject_Type(object) : NULL;
	PyObject *name = type ? api_get_named(type, "__name__") : NULL;
	bool is = false;

	for (; name && *names && !is; names++)
		is = py.PyUnicode_CompareWithASCIIString(name, *names) == 0;
	if (name)
		py.Py_DecRef(name);
	if (type)
		py.Py_DecRef(type);
	return is;
}

/* Whatever else hides behind a name (a class method, a property) would not survive a wrapper. */
static const char *const methods[] = {"function",          "wrapper_descriptor",
				      "method_descriptor", "cython_function_or_method",
				      "instancemethod",    NULL};
static const char *const functions[] = {"function", "builtin_function_or_method",
					"cython_function_or_method", NULL};

static void patch(PyObject *owner, bool is_class)
{
	static PyMethodDef method = {target.name, NULL, PY_VARARGS_KEYWORDS, NULL};
	PyObject *raw = is_class ? raw_attribute(owner) : api_get_named(owner, target.name);
	PyObject *code = raw ? api_get_named(raw, "__code__") : NULL;
	int64_t flags = code ? api_get_number(code, "co_flags", 0) : 0;
	bool known = is_of_type(raw, is_class ? methods : functions) && !(flags & CO_ASYNC);

	if ((flags & CO_GENERATOR) || strcmp(target.name, "__iter__") == 0)
		method.ml_meth = on_make;
	else
		method.ml_meth = is_class ? on_method : on_function;
	if (known && is_class)
		patch_method(owner, target.where, &method);
	else
		patch_note(target.where, target.name, known && patch_attribute(owner, &method));
	if (code)
		py.Py_DecRef(code);
	if (raw)
		py.Py_DecRef(raw);
}

void batch_fn_patch(PyObject *module)
{
	char part[CONFIG_BATCH_FN_MAX];
	PyObject *owner = module;

	py.Py_IncRef(owner);
	for (const char *at = target.owner, *end; owner && *at; at = *end ? end + 1 : end) {
		PyObject *outer = owner;

		end = strchrnul(at, '.');
		memcpy(part, at, (size_t)(end - at));
		part[end - at] = '\0';
		owner = api_get_named(outer, part);
		py.Py_DecRef(outer);
	}
	if (!owner) {
		patch_note(target.where, target.name, false);
		return;
	}
	patch(owner, target.owner[0] != '\0');
	py.Py_DecRef(owner);
}

static bool is_named(PyObject *object, const char *attribute, const char *value)
{
	PyObject *name = api_get_named(object, attribute);
	bool is = name && api_is_string(name) &&
		  py.PyUnicode_CompareWithASCIIString(name, value) == 0;

	if (name)
		py.Py_DecRef(name);
	return is;
}

/* builtins.__build_class__: what a class statement calls. */
static PyObject *on_class(PyObject *original, PyObject *args, PyObject *kwargs)
{
	static bool done;
	PyObject *class = py.PyObject_Call(original, args, kwargs), *builtins;

	if (!class || done || !is_named(class, "__qualname__", target.owner) ||
	    !is_named(class, "__module__", target.module))
		return class;
	done = true;
	patch(class, true);
	builtins = py.PyImport_ImportModule("builtins");
	if (builtins) {
		py.PyObject_SetAttrString(builtins, "__build_class__", original);
		py.Py_DecRef(builtins);
	}
	py.PyErr_Clear();
	return class;
}

void batch_fn_main(void)
{
	static PyMethodDef method = {"__build_class__", on_class, PY_VARARGS_KEYWORDS, NULL};
	static bool done;
	PyObject *builtins;

	if (done || strcmp(target.module, "__main__") != 0 || !target.owner[0])
		return;
	done = true;
	builtins = py.PyImport_ImportModule("builtins");
	if (builtins) {
		patch_attribute(builtins, &method);
		py.Py_DecRef(builtins);
	}
	py.PyErr_Clear();
}

void batch_fn_look(void)
{
	PyObject *modules = py.PySys_GetObject("modules");
	PyObject *module = modules ? py.PyDict_GetItemString(modules, target.module) : NULL;
	PyObject *function = module ? api_get_named(module, target.name) : NULL;

	if (!function)
		return;
	py.Py_DecRef(function);
	batch_fn_pending = false;
	patch(module, false);
}
