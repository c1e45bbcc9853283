/* SPDX-License-Identifier: Apache-2.0 */
#include "python/loaders/loader.h"

#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/note.h"
#include "base/sys.h"
#include "batch/ahead.h"
#include "batch/marks.h"
#include "python/interpreter/patch.h"
#include "python/interpreter/wrapper.h"
#include "python/loaders/follow.h"
#include "python/loaders/gluon.h"
#include "python/loaders/paddle.h"
#include "python/loaders/tfdata.h"
#include "python/torch/identity.h"
#include "python/torch/torch.h"

#define CO_GENERATOR 0x20
#define CO_ASYNC     (0x80 | 0x200) /* CO_COROUTINE, CO_ASYNC_GENERATOR */

enum {
	WAIT = 1 << 0,
	MAKE = 1 << 1,
	STEP = 1 << 2,
	SKIP = 1 << 3,
	CALLS = WAIT | MAKE | STEP | SKIP,
	MAIN = 1 << 4,
	EAGER = 1 << 5,
	GENERATOR = 1 << 6,
	OBJECT = 1 << 7,
	CLASS = 1 << 8,
	GRAPH = 1 << 9,
	PARTS = 1 << 10,
	AHEAD = 1 << 11,
	INNER = 1 << 12,
	LOADS = 1 << 13,
};

struct row {
	const char *kind;
	const char *module;
	const char *class;
	const char *where;
	int how;
	/* attributes that lead from the object to the loader, as "_a.b"; NULL: none */
	const char *known_by;
	const char *unless;   /* when calls are not recorded (loaders.def); NULL: always record */
	PyMethodDef method, next;
};

static struct row rows[LOADER_MAX];

static const struct follow_crew *const crews[LOADER_MAX] = {
	[LOADER_gluon_workers] = &gluon_crew,
	[LOADER_paddle] = &paddle_crew, /* its method also makes iterators of paddle_workers */
	[LOADER_paddle_workers] = &paddle_crew,
};

/* true: the user named a loader, so loaders of loaders.def are not followed */
static bool users;

static const void *loader_of(const struct row *row, PyObject *object)
{
	OWNED PyObject *loader = NULL; /* the object keeps it alive */

	if (object && row->how & CLASS)
		loader = py.PyObject_Type(object);
	else if (object && row->known_by)
		loader = api_get_path(object, row->known_by);
	return loader ? loader : object;
}

static struct follow_what what_of(const struct row *row, PyObject *object)
{
	return (struct follow_what){
		.kind = row->kind,
		.loader = loader_of(row, object),
		.gives_way = users || row->how & INNER,
		.ahead = row->how & AHEAD,
		.loads = row->how & LOADS,
		.crew = crews[row - rows],
	};
}

static bool is_inside(void)
{
	return consumer_is_inside() || api_in_daemon();
}

static bool is_left_out(const struct row *row, PyObject *object)
{
	OWNED PyObject *value = row->unless ? api_get_path(object, row->unless) : NULL;
	const char *number = row->unless ? strchr(row->unless, '=') : NULL;

	if (!value || value == py.none)
		return false;
	return !number || api_number(value, -1) == number[1] - '0';
}

/* Returns 0 while TensorFlow builds a graph, -1 if a signal handler raised (Ctrl-C), else 1. */
static int is_eager(void)
{
	static PyObject *function;
	PyObject *answer;

	if (!function) {
		OWNED PyObject *module =
			py.PyImport_ImportModule("tensorflow.python.eager.context");

		if (module)
			function = api_get_named(module, "executing_eagerly");
		api_clear_run();
	}
	if (!function)
		return 1;
	answer = py.PyObject_CallObject(function, NULL);
	return answer ? api_flag(answer, true) : -1;
}

/* Returns 1 if the call counts, 0 if not, or -1 if an exception was raised. */
static int gate(const struct row *row, PyObject *object)
{
	if (!object || is_inside() || (row->how & MAIN && sys_gettid() != sys_getpid()) ||
	    is_left_out(row, object))
		return 0;
	return row->how & EAGER ? is_eager() : 1;
}

static PyObject *on_wait(const struct row *row, PyObject *original, PyObject *args,
			 PyObject *kwargs)
{
	PyObject *object = api_first(args);
	const int open = gate(row, object);
	struct follow_what what;

	if (open < 0)
		return NULL;
	if (!open)
		return py.PyObject_Call(original, args, kwargs);
	what = what_of(row, object);
	return follow_call(&what, object, original, args, kwargs);
}

static bool patch_next(PyObject *object, PyMethodDef *method)
{
	OWNED PyObject *class = py.PyObject_Type(object);
	OWNED PyObject *found = api_get_named(class, method->ml_name);

	return wrapper_calls(found, method) || patch_method(class, method);
}

/* Makes an iterator. A graph asks it without calling its Python methods: see tfdata.c. */
static PyObject *make_graph(const struct row *row, PyObject *original, PyObject *args,
			    PyObject *kwargs)
{
	PyObject *dataset = api_argument(args, kwargs, 1, "dataset"), *made;
	struct tfdata_making making;
	int eager;

	if (!dataset || dataset == py.none || is_inside())
		return py.PyObject_Call(original, args, kwargs);
	eager = is_eager();
	if (eager < 0)
		return NULL;
	if (eager)
		identity_iterated(dataset);
	tfdata_make(&making, dataset, row->how & PARTS);
	making.is_eager = eager;
	made = py.PyObject_Call(original, args, kwargs);
	tfdata_make_end(&making);
	return made;
}

static PyObject *on_make(struct row *row, PyObject *original, PyObject *args, PyObject *kwargs)
{
	static const char *const generators[] = {"generator", NULL};
	PyObject *object = api_first(args), *made;
	struct follow_what what;

	if (row->how & GRAPH)
		return make_graph(row, original, args, kwargs);
	if (row->how & CLASS) {
		made = py.PyObject_Call(original, args, kwargs);
		if (made && object)
			patch_next(object, &row->next);
		return made;
	}
	if (is_inside() || is_left_out(row, object))
		return py.PyObject_Call(original, args, kwargs);
	what = what_of(row, object);
	if (row->how & OBJECT)
		return follow_make(&what, original, args, kwargs);
	made = py.PyObject_Call(original, args, kwargs);
	/* Only generators get a stand-in, because other objects may have further uses. */
	if (row->how & GENERATOR && !api_is_of_type(made, generators))
		return made;
	return follow_iterator(&what, made);
}

static void on_step(const struct row *row, PyObject *args)
{
	PyObject *number = py.PyTuple_Size(args) > 1 ? py.PyTuple_GetItem(args, 1) : NULL;
	const bool first = number && api_number(number, 1) == 0;

	if (marks_step(row->kind, first, clock_now_ns()) && !first)
		note_once('w', "Keras runs this loop in a graph, so dlprof sees steps but not "
			       "waits: use run_eagerly=True or loop over the dataset to record "
			       "waits");
	py.PyErr_Clear();
}

static void on_skip(const struct row *row, PyObject *args)
{
	PyObject *object = api_first(args);
	const int64_t count = object ? api_get_number(object, "skip_batches", 0) : 0;

	if (object && !is_inside())
		torch_skip(loader_of(row, object), count > 0 ? (uint64_t)count : 0);
	py.PyErr_Clear();
}

static PyObject *on_call(PyObject *original, PyObject *args, PyObject *kwargs,
			 const PyMethodDef *method)
{
	struct row *row = WRAPPER_ROW(method, struct row, method);

	switch (row->how & CALLS) {
	case WAIT:
		return on_wait(row, original, args, kwargs);
	case MAKE:
		return on_make(row, original, args, kwargs);
	case SKIP:
		on_skip(row, args);
		break;
	case STEP:
		on_step(row, args);
		break;
	}
	return py.PyObject_Call(original, args, kwargs);
}

static PyObject *on_next(PyObject *original, PyObject *args, PyObject *kwargs,
			 const PyMethodDef *next)
{
	return on_wait(WRAPPER_ROW(next, struct row, next), original, args, kwargs);
}

static struct row rows[LOADER_MAX] = {
#define LOADER(id, kind, module, class, name, how, known_by, unless)                               \
	{kind,                                                                                     \
	 module,                                                                                   \
	 class,                                                                                    \
	 module ":" class,                                                                         \
	 how,                                                                                      \
	 known_by,                                                                                 \
	 unless,                                                                                   \
	 WRAPPER_METHOD(name, on_call),                                                            \
	 WRAPPER_METHOD("__next__", on_next)},
#include "python/loaders/loaders.def"
#undef LOADER
};

/* The method or function that the user names in DLPROF_BATCH_FN. */
static struct {
	char module[CONFIG_BATCH_FN_MAX];
	char where[CONFIG_BATCH_FN_MAX];
	char owner[CONFIG_BATCH_FN_MAX]; /* class, as "Outer.Inner"; "": none */
	char name[CONFIG_BATCH_FN_MAX];
} target;

static const struct follow_what of_users = {.kind = "batch_fn", .loader = &of_users};
static const struct follow_what of_made = {
	.kind = "batch_fn", .loader = &of_users, .only_made = true};

static PyObject *on_users_method(PyObject *original, PyObject *args, PyObject *kwargs)
{
	ahead_named();
	return follow_call(&of_users, api_first(args), original, args, kwargs);
}

static PyObject *on_users_function(PyObject *original, PyObject *args, PyObject *kwargs)
{
	ahead_named();
	return follow_call(&of_users, NULL, original, args, kwargs);
}

static PyObject *on_users_next(PyObject *original, PyObject *args, PyObject *kwargs)
{
	ahead_named();
	return follow_call(&of_made, api_first(args), original, args, kwargs);
}

static PyMethodDef users_next = {"__next__", on_users_next, PY_VARARGS_KEYWORDS, NULL};

/* Patches the class's __next__ or, if that is impossible, returns a stand-in. */
static PyObject *on_users_make(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *made = py.PyObject_Call(original, args, kwargs);

	ahead_named();
	if (!made || !patch_next(made, &users_next))
		return follow_iterator(&of_users, made);
	follow_made(&of_users, made);
	return made;
}

/* Returns an attribute of the class or a base, unbound, as a new reference; or NULL. */
static PyObject *raw_attribute(PyObject *class, const char *name)
{
	OWNED PyObject *order = api_get_named(class, "__mro__");
	ssize_t count = order ? py.PyTuple_Size(order) : 0;
	PyObject *found = NULL;

	for (ssize_t i = 0; i < count && !found; i++) {
		OWNED PyObject *dict = api_get_named(py.PyTuple_GetItem(order, i), "__dict__");

		found = dict ? py.PyMapping_GetItemString(dict, name) : NULL;
		py.PyErr_Clear();
	}
	py.PyErr_Clear();
	return found;
}

/* Only these types are wrapped; others, such as a property, would not work afterwards. */
static const char *const methods[] = {"function",          "wrapper_descriptor",
				      "method_descriptor", "cython_function_or_method", NULL};
static const char *const functions[] = {"function", "builtin_function_or_method",
					"cython_function_or_method", NULL};

void loader_patch(PyObject *module, size_t at)
{
	struct row *row = &rows[at];
	OWNED PyObject *class = api_get_named(module, row->class);
	OWNED PyObject *raw = class ? raw_attribute(class, row->method.ml_name) : NULL;
	/* true: already wrapped, under another name or in a base class */
	bool set = wrapper_is(raw);

	if (!set)
		set = api_is_of_type(raw, methods) && patch_method(class, &row->method);
	patch_note(row->where, row->method.ml_name, set);
}

/* Wraps the user's method or function. Anything else is noted as missing. */
static void patch_users(PyObject *owner, bool is_class)
{
	static PyMethodDef method = {target.name, NULL, PY_VARARGS_KEYWORDS, NULL};
	const char *name = target.name;
	OWNED PyObject *raw = is_class ? raw_attribute(owner, name) : api_get_named(owner, name);
	OWNED PyObject *code = raw ? api_get_named(raw, "__code__") : NULL;
	int64_t flags = code ? api_get_number(code, "co_flags", 0) : 0;
	bool known = api_is_of_type(raw, is_class ? methods : functions) && !(flags & CO_ASYNC);

	if ((flags & CO_GENERATOR) || strcmp(name, "__iter__") == 0)
		method.ml_meth = on_users_make;
	else
		method.ml_meth = is_class ? on_users_method : on_users_function;
	known = known && patch_method(owner, &method);
	users |= known;
	patch_note(target.where, name, known);
}

static bool is_known(void)
{
	for (size_t i = 0; i < LOADER_MAX; i++)
		if (strcmp(rows[i].module, target.module) == 0 &&
		    strcmp(rows[i].class, target.owner) == 0 &&
		    strcmp(rows[i].method.ml_name, target.name) == 0)
			return true;
	return false;
}

bool loader_users_pending HOT_DATA = false;

const char *loader_users_module(void)
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
	if (is_known())
		return NULL;
	patch_note(target.where, target.name, false);
	loader_users_pending = strcmp(target.module, "__main__") == 0 && !target.owner[0];
	return target.module;
}

void loader_users_patch(PyObject *module, size_t row)
{
	OWNED PyObject *owner = api_get_path(module, target.owner);

	if (owner)
		patch_users(owner, target.owner[0] != '\0');
}

/* Wraps __build_class__, which each class statement calls. */
static PyObject *on_class(PyObject *original, PyObject *args, PyObject *kwargs)
{
	static bool done;
	PyObject *class = py.PyObject_Call(original, args, kwargs);
	OWNED PyObject *builtins = NULL;

	if (!class || done || !api_has_text(class, "__qualname__", target.owner) ||
	    !api_has_text(class, "__module__", target.module))
		return class;
	done = true;
	patch_users(class, true);
	builtins = py.PyImport_ImportModule("builtins");
	if (builtins)
		py.PyObject_SetAttrString(builtins, "__build_class__", original);
	py.PyErr_Clear();
	return class;
}

void loader_users_main(void)
{
	static PyMethodDef method = {"__build_class__", on_class, PY_VARARGS_KEYWORDS, NULL};
	static bool done;
	OWNED PyObject *builtins = NULL;

	if (done || strcmp(target.module, "__main__") != 0 || !target.owner[0])
		return;
	done = true;
	builtins = py.PyImport_ImportModule("builtins");
	if (builtins)
		patch_attribute(builtins, &method);
	py.PyErr_Clear();
}

void loader_users_look(void)
{
	PyObject *module = api_module(target.module);
	OWNED PyObject *function = module ? api_get_named(module, target.name) : NULL;

	if (!function)
		return;
	loader_users_pending = false;
	patch_users(module, false);
}
