/* SPDX-License-Identifier: Apache-2.0 */
#include "python/steps.h"

#include <stdint.h>

#include "base/clock.h"
#include "base/text.h"
#include "python/audit.h"
#include "python/patch.h"
#include "record/activate.h"
#include "record/span.h"
#include "record/tally.h"

/* Attributes of a stand-in. */
static struct api_name object_name = {"_dlprof_object", NULL};	/* what it stands for */
static struct api_name dataset_name = {"_dlprof_dataset",
				       NULL}; /* of a stream: of what it is an iterator */
static struct api_name taken_name = {"_dlprof_taken",
				     NULL}; /* of a stream: a uint64_t, samples it gave */

/* The name of an object's class, or of a function. */
static void add_name(struct text *text, PyObject *object)
{
	PyObject *type = py.PyObject_Type(object);
	PyObject *name = type ? api_get_named(type, "__name__") : NULL;
	PyObject *own = name && py.PyUnicode_CompareWithASCIIString(name, "function") == 0
				? api_get_named(object, "__name__") : NULL;
	PyObject *best = own ? own : name;
	const char *utf8 = best && api_is_string(best) ? py.PyUnicode_AsUTF8(best) : NULL;

	text_add(text, utf8 ? utf8 : "?");
	py.PyErr_Clear();
	if (own)
		py.Py_DecRef(own);
	if (name)
		py.Py_DecRef(name);
	if (type)
		py.Py_DecRef(type);
}

/* The type, or a function itself; only to be compared. */
static OFTEN const void *key_of(PyObject *object)
{
	PyObject *type = py.PyObject_Type(object);

	if (type)
		py.Py_DecRef(type);	/* the object keeps it */
	return type == py.function_type ? object : type;
}

#define STEP_PLACES 4	/* where one may lie; the last of them is given up for a further one */

/* `what`: "dataset" or "transform". */
static OFTEN struct dlprof_tally *tally_of(struct thread *thread, PyObject *object,
					   const char *what)
{
	const void *key = key_of(object);
	uintptr_t at = (uintptr_t)key >> 4;
	struct thread_step *known = NULL;
	TEXT(name, DLPROF_TALLY_NAME_BYTES);

	for (uintptr_t end = at + STEP_PLACES; at < end; at++) {
		known = &thread->steps[at % THREAD_STEP_MAX];
		if (likely(known->key == key && known->tally))
			return known->tally;
		if (!known->key)
			break;
	}
	add_name(&name, object);
	known->key = key;
	known->tally = tally_named(thread, DLPROF_TALLY_STEP, name.buffer, what, 0);
	return known->tally;
}

static OFTEN bool begin_step(struct span *span, PyObject *object, const char *what,
			     const char *name)
{
	if (!activate_on() || !span_begin_in_load(span, DLPROF_CLASS_STEP))
		return false;
	span->name = name;
	span->uncounted = false;
	span->tally = tally_of(span->thread, object, what);
	return true;
}

static OFTEN PyObject *on_step(PyObject *step, PyObject *args, PyObject *kwargs)
{
	struct span span;
	bool recorded = begin_step(&span, step, "transform", "transform");
	PyObject *result = py.PyObject_Call(step, args, kwargs);

	if (recorded)
		span_end(&span, 0, !result);
	return result;
}

/* The method of a transform: one step of the transform's class. */
static PyObject *steps_method(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *self = py.PyTuple_GetItem(args, 0);
	bool recorded = false;
	struct span span;
	PyObject *result;

	py.PyErr_Clear();
	if (self)
		recorded = begin_step(&span, self, "transform", "transform");
	result = py.PyObject_Call(original, args, kwargs);
	if (recorded)
		span_end(&span, 0, !result);
	return result;
}

/* An image file was opened, and so the module of its format is imported: its decoder can be seen.
 */
static OFTEN PyObject *steps_opened(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *result = py.PyObject_Call(original, args, kwargs);

	if (result && activate_on())
		audit_opened();
	return result;
}

/* Past its class's own __setattr__: attributes that others set belong to what it stands for. */
static OFTEN bool keep(PyObject *standing, struct api_name *name, PyObject *value)
{
	PyObject *string = api_name(name);

	return string && py.PyObject_GenericSetAttr(standing, string, value) == 0;
}

/* What keep() kept; NULL with an exception, in a stand-in that was copied without its state. */
static OFTEN PyObject *kept(PyObject *standing, struct api_name *name)
{
	PyObject *string = api_name(name);

	return string ? py.PyObject_GenericGetAttr(standing, string) : NULL;
}

/* What stands for `object`: has the methods of `class`, and for the rest asks the object. */
static OFTEN PyObject *stand_in(PyObject *class, PyObject *object)
{
	PyObject *standing = py.PyObject_CallObject(class, NULL);

	if (standing && !keep(standing, &object_name, object)) {
		py.Py_DecRef(standing);
		standing = NULL;
	}
	return standing;
}

static OFTEN PyObject *original_of(PyObject *args)
{
	PyObject *standing = py.PyTuple_GetItem(args, 0);

	return standing ? kept(standing, &object_name) : NULL;
}

/* __getattr__: only for what the stand-in has not itself. */
static PyObject *on_attribute(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyObject *name = py.PyTuple_GetItem(args, 1);
	PyObject *object = NULL, *value = NULL;

	(void)self;
	(void)kwargs;
	/* Copied without its state it has no object, and asking for that would come here again. */
	if (name && py.PyUnicode_CompareWithASCIIString(name, object_name.text) == 0) {
		py.PyErr_SetObject(*py.attribute_error, name);
		return NULL;
	}
	if (name)
		object = original_of(args);
	if (object)
		value = py.PyObject_GetAttr(object, name);
	if (object)
		py.Py_DecRef(object);
	return value;
}

/* A method that Python asks the class for; `name`: which. */
static PyObject *on_forward(PyObject *name, PyObject *args, PyObject *kwargs)
{
	ssize_t size = py.PyTuple_Size(args);
	PyObject *object = original_of(args), *result = NULL;
	PyObject *method = object ? py.PyObject_GetAttr(object, name) : NULL;
	PyObject *rest = method ? py.PyTuple_New(size - 1) : NULL;

	for (ssize_t i = 1; rest && i < size; i++) {
		PyObject *argument = py.PyTuple_GetItem(args, i);

		py.Py_IncRef(argument);
		py.PyTuple_SetItem(rest, i - 1, argument);
	}
	if (rest)
		result = py.PyObject_Call(method, rest, kwargs);
	for (PyObject **left = (PyObject *[]){rest, method, object}, **end = left + 3; left < end;
	     left++)
		if (*left)
			py.Py_DecRef(*left);
	return result;
}

static PyObject *on_class(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyObject *object = original_of(args), *class = NULL;

	(void)self;
	(void)kwargs;
	if (object)
		class = py.PyObject_GetAttrString(object, "__class__");
	if (object)
		py.Py_DecRef(object);
	return class;
}

/* One sample, from begin to end; `index`: its place in the dataset, or in the stream. */
static OFTEN PyObject *sample(PyObject *object, PyObject *dataset, PyObject *key, uint64_t index)
{
	struct span span;
	bool recorded = begin_step(&span, dataset, "dataset", "sample");
	uint64_t begin_ticks = recorded ? clock_ticks() : 0;
	uint32_t life = thread_life;
	PyObject *value = key ? py.PyObject_GetItem(object, key) : py.PyIter_Next(object);

	if (!recorded)
		return value;
	span.uncounted = !value;	/* the end of a stream is no sample */
	span_end(&span, 0, !value && key);
	if (value && thread_is_in_life(life) && span.tally)
		tally_sample(span.thread, span.tally->name, index,
			     clock_length_ns(clock_ticks() - begin_ticks),
			     tally_visited(span.thread));
	return value;
}

/* __getitem__ */
static OFTEN PyObject *on_item(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyObject *object = original_of(args), *key, *value;
	int64_t index;

	(void)self;
	(void)kwargs;
	if (!object)
		return NULL;
	key = py.PyTuple_GetItem(args, 1);
	index = key ? api_number(key, 0) : 0;
	value = key ? sample(object, object, key, index < 0 ? 0 : (uint64_t)index) : NULL;
	py.Py_DecRef(object);
	return value;
}

/* __getitems__: samples of a whole batch at once. */
static PyObject *on_items(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyObject *object = original_of(args), *keys = py.PyTuple_GetItem(args, 1);
	PyObject *method = object ? py.PyObject_GetAttrString(object, "__getitems__") : NULL;
	PyObject *values = NULL, *inner;
	struct span span;
	bool recorded;

	(void)self;
	inner = method && keys ? py.PyTuple_New(1) : NULL;
	if (inner) {
		py.Py_IncRef(keys);
		py.PyTuple_SetItem(inner, 0, keys);
		recorded = begin_step(&span, object, "dataset", "samples");
		values = py.PyObject_Call(method, inner, kwargs);
		if (recorded)
			span_end(&span, 0, !values);
		py.Py_DecRef(inner);
	}
	if (method)
		py.Py_DecRef(method);
	if (object)
		py.Py_DecRef(object);
	return values;
}

/* __next__ */
static PyObject *on_next(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyObject *object = original_of(args), *standing = py.PyTuple_GetItem(args, 0);
	PyObject *dataset, *bytes, *value;
	uint64_t *taken;

	(void)self;
	(void)kwargs;
	if (!object)
		return NULL;
	dataset = kept(standing, &dataset_name);
	bytes = kept(standing, &taken_name);
	py.PyErr_Clear();
	taken = bytes ? api_bytearray(bytes, sizeof(*taken)) : NULL;
	value = sample(object, dataset ? dataset : object, NULL, taken ? *taken : 0);
	if (value && taken)
		(*taken)++;
	/* A built-in __next__ must say why it gives nothing; PyIter_Next swallows the usual reason.
	 */
	if (!value && !py.PyErr_Occurred())
		py.PyErr_SetObject(*py.stop_iteration, NULL);
	if (bytes)
		py.Py_DecRef(bytes);
	if (dataset)
		py.Py_DecRef(dataset);
	py.Py_DecRef(object);
	return value;
}

static PyMethodDef attribute_method = {"__getattr__", on_attribute, PY_VARARGS_KEYWORDS, NULL};
static PyMethodDef item_method = {"__getitem__", on_item, PY_VARARGS_KEYWORDS, NULL};
static PyMethodDef items_method = {"__getitems__", on_items, PY_VARARGS_KEYWORDS, NULL};
static PyMethodDef next_method = {"__next__", on_next, PY_VARARGS_KEYWORDS, NULL};
static PyMethodDef iter_method = {"__iter__", api_itself, PY_VARARGS_KEYWORDS, NULL};
static PyMethodDef forward_method = {"forward", on_forward, PY_VARARGS_KEYWORDS, NULL};
static PyMethodDef class_method = {"__class__", on_class, PY_VARARGS_KEYWORDS, NULL};
static PyMethodDef step_method = {"step", on_step, PY_VARARGS_KEYWORDS, NULL};

/* Takes `value`. */
static bool add(PyObject *dict, const char *name, PyObject *value)
{
	bool added = value && py.PyDict_SetItemString(dict, name, value) == 0;

	if (value)
		py.Py_DecRef(value);
	return added;
}

static bool add_method(PyObject *dict, PyMethodDef *method, const char *name, PyObject *self)
{
	PyObject *function = py.PyCFunction_NewEx(method, self, NULL);
	bool added = function && add(dict, name, py.PyInstanceMethod_New(function));

	if (function)
		py.Py_DecRef(function);
	return added;
}

/* What Python asks a class for and not its object, so that __getattr__ does not see it. */
static const char *const forwarded[] = {
	"__len__", "__bool__", "__iter__", "__next__", "__contains__", "__call__", "__add__",
	"__radd__", "__eq__", "__ne__", "__hash__", "__repr__", "__str__", "__dir__",
	"__setitem__", "__delitem__", "__enter__", "__exit__", "__length_hint__",
	"__setattr__", "__delattr__", "__reduce__", "__reduce_ex__", NULL,
};

/* Those of `forwarded` that the object has; what it is not, the stand-in must not seem to be. */
static bool add_forwarded(PyObject *dict, PyObject *object)
{
	PyObject *type = py.PyObject_Type(object);
	bool added = type;

	for (const char *const *name = forwarded; added && *name; name++) {
		PyObject *self;

		if (!py.PyObject_HasAttrString(type, *name))
			continue;
		self = py.PyUnicode_InternFromString(*name);
		added = self && add_method(dict, &forward_method, *name, self);
		if (self)
			py.Py_DecRef(self);
	}
	if (type)
		py.Py_DecRef(type);
	return added;
}

/* For isinstance(). */
static bool add_class(PyObject *dict)
{
	PyObject *getter = py.PyCFunction_NewEx(&class_method, NULL, NULL);
	PyObject *args = getter ? py.PyTuple_Pack(1, getter) : NULL;
	bool added = args && add(dict, "__class__", py.PyObject_CallObject(py.property_type, args));

	if (args)
		py.Py_DecRef(args);
	if (getter)
		py.Py_DecRef(getter);
	return added;
}

/* type(name, (), {methods}), for an object whose class is `like`, or for any if that is NULL. */
static PyObject *make_class(const char *name, PyMethodDef *const *methods, PyObject *like)
{
	PyObject *args = py.PyTuple_New(3), *dict = py.PyDict_New(), *class = NULL;
	bool added = args && dict && add_class(dict) && (!like || add_forwarded(dict, like));

	for (; added && *methods; methods++)
		added = add_method(dict, *methods, (*methods)->ml_name, NULL);
	if (added) {
		py.PyTuple_SetItem(args, 0, py.PyUnicode_FromString(name));
		py.PyTuple_SetItem(args, 1, py.PyTuple_New(0));
		py.PyTuple_SetItem(args, 2, dict);
		dict = NULL;
		class = py.PyObject_CallObject(py.type_type, args);
	}
	if (dict)
		py.Py_DecRef(dict);
	if (args)
		py.Py_DecRef(args);
	py.PyErr_Clear();
	return class;
}

static PyMethodDef *const dataset_methods[] = {&attribute_method, &item_method, NULL};
static PyMethodDef *const items_methods[] = {&attribute_method, &item_method, &items_method, NULL};
static PyMethodDef *const stream_methods[] = {&attribute_method, &next_method, &iter_method, NULL};

static PyObject *compose_class(void)
{
	static PyMethodDef *const methods[] = {&attribute_method, NULL};
	static PyObject *class;

	if (!class)
		class = make_class("compose", methods, NULL);
	return class;
}

/* The stand-in also knows whose iterator it is, and counts. */
static bool add_stream_facts(PyObject *standing, PyObject *fetcher)
{
	static const uint64_t none;
	PyObject *dataset = api_get_named(fetcher, "dataset");
	PyObject *taken = py.PyByteArray_FromStringAndSize((const char *)&none, sizeof(none));
	bool added = dataset && taken && keep(standing, &dataset_name, dataset) &&
		     keep(standing, &taken_name, taken);

	if (dataset)
		py.Py_DecRef(dataset);
	if (taken)
		py.Py_DecRef(taken);
	return added;
}

/*
 * What keeps a state is looked at closely by those who save it: left alone. So is what cannot be
 * asked for samples: Python has an error to raise, which it knows better than we do.
 */
void steps_watch(PyObject *fetcher)
{
	bool stream = py.PyObject_HasAttrString(fetcher, "dataset_iter");
	const char *name = stream ? "dataset_iter" : "dataset";
	PyObject *object = api_get_named(fetcher, name), *class = NULL, *standing = NULL;
	PyObject *type = object ? py.PyObject_Type(object) : NULL;

	if (type && py.PyObject_HasAttrString(type, stream ? "__next__" : "__getitem__") &&
	    !py.PyObject_HasAttrString(object, "state_dict"))
		class = make_class(name,
				   stream ? stream_methods
				   : api_get_flag(object, "__getitems__", false) ? items_methods
										 : dataset_methods,
				   object);
	if (class)
		standing = stand_in(class, object);
	if (standing && (!stream || add_stream_facts(standing, fetcher)))
		py.PyObject_SetAttrString(fetcher, name, standing);
	py.PyErr_Clear();
	for (PyObject **left = (PyObject *[]){standing, class, type, object}, **end = left + 4;
	     left < end; left++)
		if (*left)
			py.Py_DecRef(*left);
}

static struct api_name transforms_name = {"transforms", NULL};

/* [step, step, ...], each timed when it is called. NULL: not what we know. */
static OFTEN PyObject *timed_steps(PyObject *compose)
{
	PyObject *steps = api_get_again(compose, &transforms_name);
	PyObject *iterator = steps ? py.PyObject_GetIter(steps) : NULL;
	PyObject *list = iterator ? py.PyList_New(0) : NULL;
	PyObject *step;

	while (list && (step = py.PyIter_Next(iterator))) {
		PyObject *timed = py.PyCFunction_NewEx(&step_method, step, NULL);

		if (!timed || py.PyList_Append(list, timed) < 0) {
			py.Py_DecRef(list);
			list = NULL;
		}
		if (timed)
			py.Py_DecRef(timed);
		py.Py_DecRef(step);
	}
	if (py.PyErr_Occurred() && list) {
		py.Py_DecRef(list);
		list = NULL;
	}
	py.PyErr_Clear();
	if (iterator)
		py.Py_DecRef(iterator);
	if (steps)
		py.Py_DecRef(steps);
	return list;
}

/* (stand-in of self, the rest) */
static OFTEN PyObject *replace_self(PyObject *args, PyObject *standing)
{
	ssize_t size = py.PyTuple_Size(args);
	PyObject *replaced = py.PyTuple_New(size);

	if (!replaced)
		return NULL;
	py.Py_IncRef(standing);
	py.PyTuple_SetItem(replaced, 0, standing);
	for (ssize_t i = 1; i < size; i++) {
		PyObject *argument = py.PyTuple_GetItem(args, i);

		py.Py_IncRef(argument);
		py.PyTuple_SetItem(replaced, i, argument);
	}
	return replaced;
}

/* Compose.__call__(self, sample), Compose.forward(self, *samples) */
static OFTEN PyObject *steps_compose(PyObject *original, PyObject *args, PyObject *kwargs)
{
	PyObject *self, *steps = NULL, *standing = NULL, *replaced = NULL, *result;

	if (!activate_on() || !thread_loading())
		return py.PyObject_Call(original, args, kwargs);
	self = py.PyTuple_GetItem(args, 0);
	py.PyErr_Clear();
	if (self && compose_class())
		steps = timed_steps(self);
	if (steps)
		standing = stand_in(compose_class(), self);
	if (standing && keep(standing, &transforms_name, steps))
		replaced = replace_self(args, standing);
	py.PyErr_Clear();
	result = py.PyObject_Call(original, replaced ? replaced : args, kwargs);
	if (replaced)
		py.Py_DecRef(replaced);
	if (standing)
		py.Py_DecRef(standing);
	if (steps)
		py.Py_DecRef(steps);
	return result;
}

static struct {
	const char *class;
	PyMethodDef method;
} rows[] = {
#define STEPS(id, module, class, name, wrapper)                                                    \
	{class, {name, wrapper, PY_VARARGS_KEYWORDS, PATCH_SIGNATURE(name)}},
#include "python/steps.def"
#undef STEPS
};

void steps_patch(PyObject *module, size_t row)
{
	PyObject *class = api_get_named(module, rows[row].class);

	if (class && patch_class(class, &rows[row].method))
		patch_note(rows[row].class, rows[row].method.ml_name, true);
	if (class)
		py.Py_DecRef(class);
}
