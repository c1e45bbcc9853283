/* SPDX-License-Identifier: Apache-2.0 */
#include "python/loader.h"

#include <string.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/sys.h"
#include "batch/marks.h"
#include "python/follow.h"
#include "python/patch.h"
#include "python/relay.h"
#include "python/tfdata.h"

#define CLASS_MAX    64
#define DALI_API_ITERATOR 1 /* nvidia.dali.types.PipelineAPIType */
#define CO_GENERATOR 0x20
#define CO_ASYNC     (0x80 | 0x200) /* CO_COROUTINE, CO_ASYNC_GENERATOR */

#define LOADER(id, kind, module, class, name, how, known_by, held)                                 \
	static PyObject *call_##id(PyObject *original, PyObject *args, PyObject *kwargs);
#include "python/loaders.def"
#undef LOADER

static struct row {
	const char *kind;
	const char *module;
	const char *class;
	const char *where;
	PyMethodDef method;
	struct api_name known_by; /* text NULL: none */
	struct api_name held;
} rows[LOADER_MAX] = {
#define LOADER(id, kind, module, class, name, how, known_by, held)                                 \
	{kind,                                                                                     \
	 module,                                                                                   \
	 class,                                                                                    \
	 module ":" class,                                                                         \
	 {name, call_##id, PY_VARARGS_KEYWORDS, PATCH_SIGNATURE(name)},                            \
	 {known_by, NULL},                                                                         \
	 {held, NULL}},
#include "python/loaders.def"
#undef LOADER
};

/* The user names a loader: those of the table give way to it. */
static bool users;

/* Borrowed. NULL, and no exception: there is none, as nobody calls a method so. */
static PyObject *self_of(PyObject *args)
{
	PyObject *self = py.PyTuple_GetItem(args, 0);

	py.PyErr_Clear();
	return self;
}

/* Only to be compared. */
static const void *loader_of(enum loader_id id, PyObject *object)
{
	PyObject *loader =
		rows[id].known_by.text && object ? api_get_again(object, &rows[id].known_by) : NULL;

	if (!loader)
		return object;
	py.Py_DecRef(loader); /* the object keeps it */
	return loader;
}

/* A daemon of multiprocessing's is somebody's worker: it may have no children, so it never trains.
 */
static bool is_servant(void)
{
	static int32_t known_pid;
	static bool servant;
	const int32_t pid = sys_getpid();
	PyObject *modules, *module, *process = NULL;

	if (likely(known_pid == pid))
		return servant;
	modules = py.PySys_GetObject("modules");
	module = modules ? py.PyDict_GetItemString(modules, "multiprocessing.process") : NULL;
	if (module)
		process = api_get_named(module, "_current_process");
	servant = process && api_get_flag(process, "daemon", false);
	known_pid = pid;
	if (process)
		py.Py_DecRef(process);
	return servant;
}

static bool is_inside(void)
{
	return follow_inside() || is_servant();
}

static bool is_held(enum loader_id id, PyObject *object)
{
	PyObject *batch =
		rows[id].held.text && object ? api_get_again(object, &rows[id].held) : NULL;

	if (batch)
		py.Py_DecRef(batch);
	return batch && batch != py.none;
}

static PyObject *how_next(enum loader_id id, PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *object = self_of(args);

	if (is_inside() || is_held(id, object))
		return py.PyObject_Call(original, args, kwargs);
	return follow_call(&(struct follow_what){rows[id].kind, loader_of(id, object), users, NULL},
			   object, original, args, kwargs);
}

static PyObject *how_next_ahead(enum loader_id id, PyObject *original, PyObject *args,
				PyObject *kwargs)
{
	PyObject *object = self_of(args);

	if (is_inside())
		return py.PyObject_Call(original, args, kwargs);
	return follow_call(
		&(struct follow_what){rows[id].kind, loader_of(id, object), users, object}, object,
		original, args, kwargs);
}

/* The thread that asks ahead, all of its life. */
static PyObject *how_ahead(enum loader_id id, PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *object = self_of(args), *result;
	struct relay *relay = object && !is_servant() ? relay_enter(object, rows[id].kind) : NULL;

	result = py.PyObject_Call(original, args, kwargs);
	relay_leave(relay, object);
	return result;
}

/*
 * DALI's own iterators ask ahead where nobody waits for it, and its server for the workers of a
 * DataLoader asks in a thread of its own.
 */
static PyObject *how_next_by_hand(enum loader_id id, PyObject *original, PyObject *args,
				  PyObject *kwargs)
{
	static struct api_name used_as = {"_api_type", NULL};
	PyObject *object = self_of(args), *type;
	bool by_hand = object && sys_gettid() == sys_getpid() && !is_inside();

	type = by_hand ? api_get_again(object, &used_as) : NULL;
	if (type) {
		by_hand = api_get_number(type, "value", -1) != DALI_API_ITERATOR;
		py.Py_DecRef(type);
	}
	if (!by_hand)
		return py.PyObject_Call(original, args, kwargs);
	return how_next(id, original, args, kwargs);
}

/*
 * TensorFlow carries out what is called, and does not just note it for later; 1 if it cannot be
 * told. -1: a signal handler of the program's raised in there, as Ctrl-C does; that is its affair.
 */
static int is_eager(void)
{
	static PyObject *function;
	PyObject *module, *answer;

	if (!function) {
		module = py.PyImport_ImportModule("tensorflow.python.eager.context");
		if (module) {
			function = api_get_named(module, "executing_eagerly");
			py.Py_DecRef(module);
		}
		py.PyErr_Clear();
	}
	if (!function)
		return 1;
	answer = py.PyObject_CallObject(function, NULL);
	return answer ? api_flag(answer, true) : -1;
}

static PyObject *how_next_eager(enum loader_id id, PyObject *original, PyObject *args,
				PyObject *kwargs)
{
	const int eager = is_inside() ? 0 : is_eager();

	if (eager < 0)
		return NULL;
	if (!eager)
		return py.PyObject_Call(original, args, kwargs);
	return how_next(id, original, args, kwargs);
}

/* What the first of its iterators is over, which stays the same over the epochs; or NULL. */
static PyObject *dataset_of_ranks(PyObject *object)
{
	static struct api_name parts = {"_iterators", NULL}, over = {"_dataset", NULL};
	PyObject *iterators = api_get_again(object, &parts), *first, *dataset;

	first = iterators ? py.PySequence_GetItem(iterators, 0) : NULL;
	py.PyErr_Clear();
	dataset = first ? api_get_again(first, &over) : NULL;
	if (iterators)
		py.Py_DecRef(iterators);
	if (first)
		py.Py_DecRef(first);
	return dataset;
}

static PyObject *how_next_ranks(enum loader_id id, PyObject *original, PyObject *args,
				PyObject *kwargs)
{
	const int eager = is_inside() ? 0 : is_eager();
	PyObject *object = self_of(args), *dataset;

	if (eager < 0)
		return NULL;
	if (!eager || !object)
		return py.PyObject_Call(original, args, kwargs);
	dataset = dataset_of_ranks(object);
	if (dataset)
		py.Py_DecRef(dataset); /* the iterators keep it */
	return follow_call(&(struct follow_what){rows[id].kind, dataset ? dataset : object, users},
			   object, original, args, kwargs);
}

/* OwnedIterator(dataset, ...); those that are made of the parts of another have none. */
static PyObject *make_tf(bool many, PyObject *original, PyObject *args, PyObject *kwargs)
{
	struct tfdata_making making;
	PyObject *dataset = api_argument(args, kwargs, 1, "dataset"), *made;

	if (!dataset || dataset == py.none || is_inside())
		return py.PyObject_Call(original, args, kwargs);
	tfdata_make(&making, dataset, many);
	made = py.PyObject_Call(original, args, kwargs);
	tfdata_make_end(&making);
	return made;
}

static PyObject *how_made(enum loader_id id, PyObject *original, PyObject *args, PyObject *kwargs)
{
	(void)id;
	return make_tf(false, original, args, kwargs);
}

static PyObject *how_made_many(enum loader_id id, PyObject *original, PyObject *args,
			       PyObject *kwargs)
{
	(void)id;
	return make_tf(true, original, args, kwargs);
}

static PyObject *how_step(enum loader_id id, PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *number = py.PyTuple_Size(args) > 1 ? py.PyTuple_GetItem(args, 1) : NULL;
	const bool first = number && api_number(number, 1) == 0;
	static bool noted;

	if (marks_told_step(rows[id].kind, first, clock_now_ns()) && !first && !noted) {
		noted = true;
		note_add('w', "only Keras' steps are seen, and not what they wait for: with "
				  "run_eagerly=True, or in a loop over the dataset, it is");
	}
	py.PyErr_Clear();
	return py.PyObject_Call(original, args, kwargs);
}

static const char *const generators[] = {"generator", NULL};

/* What else is made is left as it is: whoever looks at it may look at more than its batches. */
static PyObject *make_for(const struct follow_what *what, PyObject *original, PyObject *args,
			  PyObject *kwargs)
{
	PyObject *made = py.PyObject_Call(original, args, kwargs);

	return api_is_of_type(made, generators) ? follow_iterator(what, made) : made;
}

static PyObject *how_make(enum loader_id id, PyObject *original, PyObject *args, PyObject *kwargs)
{
	const struct follow_what what = {rows[id].kind, loader_of(id, self_of(args)), users, NULL};

	return make_for(&what, original, args, kwargs);
}

static PyObject *how_make_ahead(enum loader_id id, PyObject *original, PyObject *args,
				PyObject *kwargs)
{
	PyObject *object = self_of(args);
	const struct follow_what what = {rows[id].kind, loader_of(id, object), users, object};

	return make_for(&what, original, args, kwargs);
}

static PyObject *how_make_object(enum loader_id id, PyObject *original, PyObject *args,
				 PyObject *kwargs)
{
	const struct follow_what what = {rows[id].kind, loader_of(id, self_of(args)), users};

	return is_inside() ? py.PyObject_Call(original, args, kwargs)
			   : follow_make(&what, original, args, kwargs);
}

static PyObject *how_next_made(enum loader_id id, PyObject *original, PyObject *args,
			       PyObject *kwargs)
{
	PyObject *object = self_of(args);

	if (is_inside())
		return py.PyObject_Call(original, args, kwargs);
	return follow_told_call(&(struct follow_what){rows[id].kind, object, users}, object,
				original, args, kwargs);
}

static PyObject *how_make_for_keras(enum loader_id id, PyObject *original, PyObject *args,
				    PyObject *kwargs)
{
	const struct follow_what what = {rows[id].kind, loader_of(id, self_of(args)), true, NULL};

	return follow_iterator(&what, py.PyObject_Call(original, args, kwargs));
}

/*
 * Iterators of a class that nobody named are asked by each other, and by threads that only prepare
 * what the main thread asks for.
 */
static PyObject *on_class_next(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *object = self_of(args), *class;

	if (is_inside() || !object || sys_gettid() != sys_getpid())
		return py.PyObject_Call(original, args, kwargs);
	class = py.PyObject_Type(object);
	py.Py_DecRef(class); /* its objects keep it */
	return follow_call(&(struct follow_what){rows[LOADER_grain_made].kind, class, users, NULL},
			   object, original, args, kwargs);
}

static PyMethodDef class_next = {"__next__", on_class_next, PY_VARARGS_KEYWORDS,
				 PATCH_SIGNATURE("__next__")};

/* Once for a class. False: it is none of those that can be changed. */
static bool patch_next(PyObject *object, PyMethodDef *method)
{
	static struct {
		PyObject *class;
		const PyMethodDef *method;
	} patched[CLASS_MAX];
	PyObject *class = py.PyObject_Type(object);
	bool set = false;
	size_t i = 0;

	while (class && i < CLASS_MAX && patched[i].class && !set) {
		set = patched[i].class == class && patched[i].method == method;
		i++;
	}
	if (class && !set && i < CLASS_MAX && patch_class(class, method)) {
		patched[i].class = class; /* kept, so that no other comes to lie there */
		patched[i].method = method;
		return true;
	}
	if (class)
		py.Py_DecRef(class);
	return set;
}

static PyObject *how_made_class(enum loader_id id, PyObject *original, PyObject *args,
				PyObject *kwargs)
{
	PyObject *object = self_of(args), *made = py.PyObject_Call(original, args, kwargs);

	(void)id;
	if (made && object)
		patch_next(object, &class_next);
	return made;
}

#define LOADER(id, kind, module, class, name, how, known_by, held)                                 \
	static PyObject *call_##id(PyObject *original, PyObject *args, PyObject *kwargs)           \
	{                                                                                          \
		return how_##how(LOADER_##id, original, args, kwargs);                             \
	}
#include "python/loaders.def"
#undef LOADER

/* All that are made one after the other are one loader. */
static const struct follow_what of_users = {"batch_fn", &of_users, false, NULL};

static PyObject *on_users_method(PyObject *original, PyObject *args, PyObject *kwargs)
{
	relay_named();
	return follow_call(&of_users, self_of(args), original, args, kwargs);
}

static PyObject *on_users_function(PyObject *original, PyObject *args, PyObject *kwargs)
{
	relay_named();
	return follow_call(&of_users, NULL, original, args, kwargs);
}

static PyObject *on_users_next(PyObject *original, PyObject *args, PyObject *kwargs)
{
	relay_named();
	return follow_made_call(&of_users, self_of(args), original, args, kwargs);
}

static PyMethodDef users_next = {"__next__", on_users_next, PY_VARARGS_KEYWORDS,
				 PATCH_SIGNATURE("__next__")};

/* An object of a class of Python's stays what it is; generators and the like are wrapped. */
static PyObject *on_users_make(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *made = py.PyObject_Call(original, args, kwargs);

	if (!made || !patch_next(made, &users_next))
		return follow_iterator(&of_users, made);
	follow_made(&of_users, made);
	return made;
}

/* What the class itself has under that name, past the descriptor; NULL: nothing. New reference. */
static PyObject *raw_attribute(PyObject *class, const char *name)
{
	PyObject *order = api_get_named(class, "__mro__"), *found = NULL;
	ssize_t count = order ? py.PyTuple_Size(order) : 0;

	for (ssize_t i = 0; i < count && !found; i++) {
		PyObject *dict = api_get_named(py.PyTuple_GetItem(order, i), "__dict__");

		found = dict ? py.PyMapping_GetItemString(dict, name) : NULL;
		py.PyErr_Clear();
		if (dict)
			py.Py_DecRef(dict);
	}
	if (order)
		py.Py_DecRef(order);
	py.PyErr_Clear();
	return found;
}

/* Whatever else hides behind a name (a class method, a property) would not survive a wrapper. */
static const char *const methods[] = {"function",          "wrapper_descriptor",
				      "method_descriptor", "cython_function_or_method",
				      "instancemethod",    NULL};
static const char *const wrapped[] = {"instancemethod", NULL};
static const char *const functions[] = {"function", "builtin_function_or_method",
					"cython_function_or_method", NULL};

void loader_patch_users(PyObject *owner, bool is_class, const char *where, const char *name)
{
	static PyMethodDef method = {NULL, NULL, PY_VARARGS_KEYWORDS, NULL};
	PyObject *raw = is_class ? raw_attribute(owner, name) : api_get_named(owner, name);
	PyObject *code = raw ? api_get_named(raw, "__code__") : NULL;
	int64_t flags = code ? api_get_number(code, "co_flags", 0) : 0;
	bool known = api_is_of_type(raw, is_class ? methods : functions) && !(flags & CO_ASYNC);

	method.ml_name = name;
	if ((flags & CO_GENERATOR) || strcmp(name, "__iter__") == 0)
		method.ml_meth = on_users_make;
	else
		method.ml_meth = is_class ? on_users_method : on_users_function;
	if (known && is_class)
		users |= patch_method(owner, where, &method);
	else {
		known = known && patch_attribute(owner, &method);
		users |= known;
		patch_note(where, name, known);
	}
	if (code)
		py.Py_DecRef(code);
	if (raw)
		py.Py_DecRef(raw);
}

void loader_patch(PyObject *module, size_t row)
{
	PyObject *class = api_get_named(module, rows[row].class);
	PyObject *raw = class ? raw_attribute(class, rows[row].method.ml_name) : NULL;

	/* The same class under another module's name, or its base's method. */
	if (api_is_of_type(raw, wrapped))
		patch_note(rows[row].where, rows[row].method.ml_name, true);
	else if (api_is_of_type(raw, methods))
		patch_method(class, rows[row].where, &rows[row].method);
	else
		patch_note(rows[row].where, rows[row].method.ml_name, false);
	if (raw)
		py.Py_DecRef(raw);
	if (class)
		py.Py_DecRef(class);
}

bool loader_is_known(const char *module, const char *class, const char *name)
{
	for (size_t i = 0; i < LOADER_MAX; i++)
		if (strcmp(rows[i].module, module) == 0 && strcmp(rows[i].class, class) == 0 &&
		    strcmp(rows[i].method.ml_name, name) == 0)
			return true;
	return false;
}
