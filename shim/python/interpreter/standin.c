/* SPDX-License-Identifier: Apache-2.0 */
#include "python/interpreter/standin.h"

#include <stddef.h>

#include "base/sys.h"

static struct api_name object_name = {"_dlprof_object", NULL};

/* Sets the attribute in the stand-in itself. Its __setattr__ would set it in the original. */
OFTEN bool standin_keep(PyObject *standing, struct api_name *name, PyObject *value)
{
	PyObject *string = api_name(name);

	return string && py.PyObject_GenericSetAttr(standing, string, value) == 0;
}

OFTEN PyObject *standin_kept(PyObject *standing, struct api_name *name)
{
	PyObject *string = api_name(name);

	return string ? py.PyObject_GenericGetAttr(standing, string) : NULL;
}

OFTEN PyObject *standin_make(PyObject *class, PyObject *object)
{
	OWNED PyObject *standing = py.PyObject_CallObject(class, NULL);

	return standing && standin_keep(standing, &object_name, object) ? api_take(&standing)
									: NULL;
}

OFTEN PyObject *standin_inside(PyObject *standing)
{
	return standin_kept(standing, &object_name);
}

OFTEN PyObject *standin_original(PyObject *args)
{
	PyObject *standing = py.PyTuple_GetItem(args, 0);

	return standing ? standin_inside(standing) : NULL;
}

/* Returns an attribute of the stand-in or, if it has none of that name, of the original. */
static PyObject *on_attribute(PyObject *self, PyObject *name)
{
	PyObject *value = py.PyObject_GenericGetAttr(self, name);
	OWNED PyObject *object = NULL;

	if (value || !py.PyErr_ExceptionMatches(*py.attribute_error))
		return value;
	/* Stops a recursion, in a stand-in that was copied without its state. */
	if (name == api_name(&object_name))
		return NULL;
	py.PyErr_Clear();
	object = standin_inside(self);
	return object ? py.PyObject_GetAttr(object, name) : NULL;
}

static struct api_name items_name = {"__getitems__", NULL};

/* on_attribute() for classes without __getitems__, for which fetch() looks with each batch. */
static PyObject *on_attribute_often(PyObject *self, PyObject *name)
{
	OWNED PyObject *object = NULL;
	PyObject *found = NULL;

	if (name != api_name(&items_name) || !py.PyObject_GetOptionalAttr)
		return on_attribute(self, name);
	object = standin_inside(self);
	/* Raises without the text that Python would make, as fetch() drops it. */
	if (object && py.PyObject_GetOptionalAttr(object, name, &found) == 0)
		py.PyErr_SetObject(*py.attribute_error, name);
	return found;
}

/* Calls the original's method `name`. */
static PyObject *on_forward(PyObject *name, PyObject *args, PyObject *kwargs)
{
	OWNED PyObject *object = standin_original(args);
	OWNED PyObject *method = object ? py.PyObject_GetAttr(object, name) : NULL;
	OWNED PyObject *rest = method ? api_slice(args, 1) : NULL;

	return rest ? py.PyObject_Call(method, rest, kwargs) : NULL;
}

static PyObject *on_class(PyObject *self, PyObject *args, PyObject *kwargs)
{
	OWNED PyObject *object = standin_original(args);

	return object ? py.PyObject_GetAttrString(object, "__class__") : NULL;
}

static PyMethodDef forward_method = {"forward", on_forward, PY_VARARGS_KEYWORDS, NULL};
static PyMethodDef class_method = {"__class__", on_class, PY_VARARGS_KEYWORDS, NULL};

static bool add_method(PyObject *dict, PyMethodDef *method, const char *name, PyObject *self)
{
	OWNED PyObject *function = py.PyCFunction_NewEx(method, self, NULL);
	OWNED PyObject *bound = function ? py.PyInstanceMethod_New(function) : NULL;

	return bound && py.PyDict_SetItemString(dict, name, bound) == 0;
}

/* Methods that Python looks up in the class. It does not ask __getattr__ for them. */
static const char *const forwarded[] = {
	"__len__", "__bool__", "__iter__", "__next__", "__contains__", "__call__", "__add__",
	"__radd__", "__eq__", "__ne__", "__hash__", "__repr__", "__str__", "__dir__",
	"__setitem__", "__delitem__", "__enter__", "__exit__", "__length_hint__",
	"__setattr__", "__delattr__", "__reduce__", "__reduce_ex__", NULL,
};

static bool add_forwarded(PyObject *dict, PyObject *object)
{
	OWNED PyObject *type = py.PyObject_Type(object);
	bool added = type;

	for (const char *const *name = forwarded; added && *name; name++) {
		OWNED PyObject *self = NULL;

		if (!api_has(type, *name))
			continue;
		self = py.PyUnicode_InternFromString(*name);
		added = self && add_method(dict, &forward_method, *name, self);
	}
	return added;
}

static bool add_class(PyObject *dict)
{
	OWNED PyObject *getter = py.PyCFunction_NewEx(&class_method, NULL, NULL);
	OWNED PyObject *property =
		getter ? py.PyObject_CallFunctionObjArgs(py.property_type, getter, NULL) : NULL;

	return property && py.PyDict_SetItemString(dict, "__class__", property) == 0;
}

/* This many classes are kept and reused: with Python's collector off, each new one would leak. */
#define KNOWN_MAX 8

static struct known {
	PyObject *type; /* a weak reference */
	PyMethodDef *const *methods;
	PyObject *class;
} known[KNOWN_MAX];

static PyObject *find_class(const PyObject *type, PyMethodDef *const *methods)
{
	for (size_t i = 0; i < KNOWN_MAX && known[i].class; i++) {
		OWNED PyObject *found = known[i].methods == methods
						? py.PyObject_CallObject(known[i].type, NULL)
						: NULL;

		if (found && found == type) {
			py.Py_IncRef(known[i].class);
			return known[i].class;
		}
	}
	return NULL;
}

static void keep_class(PyObject *type, PyMethodDef *const *methods, PyObject *class)
{
	static size_t newest;
	PyObject *reference = py.PyWeakref_NewRef(type, NULL);
	struct known *place = &known[newest++ % KNOWN_MAX];
	OWNED PyObject *old_type = NULL, *old_class = NULL;

	if (!reference) {
		py.PyErr_Clear();
		return;
	}
	/* Drop the old references last: that may run Python code, which must see `place` whole. */
	old_type = place->type;
	old_class = place->class;
	py.Py_IncRef(class);
	*place = (struct known){reference, methods, class};
}

/* Called where the stand-in is used as a sequence: by iter(), and by C code. */
static PyObject *on_list_item(PyObject *self, ssize_t at)
{
	OWNED PyObject *index = py.PyLong_FromLongLong(at);

	return index ? py.PyObject_GetItem(self, index) : NULL;
}

/* Makes a base class with a stand-in's slots: for attributes and, unless it is NULL, `item`. */
static PyObject *make_base(py_wrapper item, bool has_items)
{
	const bool is_often = item && !has_items;
	struct py_slot slots[] = {
		{PY_SLOT_ATTRIBUTE,
		 (void (*)(void))(is_often ? on_attribute_often : on_attribute)},
		{item ? PY_SLOT_MAP_ITEM : 0, (void (*)(void))item},
		{PY_SLOT_LIST_ITEM, (void (*)(void))on_list_item},
		{0, NULL},
	};
	struct py_spec spec = {"dlprof.standin", 0, 0, PY_TYPE_IS_BASE | PY_TYPE_DEFAULT, slots};

	return py.PyType_FromSpec(&spec);
}

static PyObject *make_class(const char *name, PyMethodDef *const *methods, PyObject *like)
{
	OWNED PyObject *dict = py.PyDict_New(), *title = py.PyUnicode_FromString(name);
	OWNED PyObject *base = NULL, *bases = NULL;
	bool added = dict && title && add_class(dict) && (!like || add_forwarded(dict, like));
	py_wrapper item = NULL;
	PyObject *class = NULL;

	for (; added && *methods; methods++) {
		if ((*methods)->ml_flags == STANDIN_ITEM)
			item = (*methods)->ml_meth;
		else
			added = add_method(dict, *methods, (*methods)->ml_name, NULL);
	}
	if (added)
		base = make_base(item, py.PyDict_GetItemString(dict, items_name.text));
	bases = base ? py.PyTuple_Pack(1, base) : NULL;
	if (bases)
		class = py.PyObject_CallFunctionObjArgs(py.type_type, title, bases, dict, NULL);
	py.PyErr_Clear();
	return class;
}

PyObject *standin_class(const char *name, PyMethodDef *const *methods, PyObject *like)
{
	OWNED PyObject *type = like ? py.PyObject_Type(like) : NULL;
	PyObject *class = type ? find_class(type, methods) : NULL;

	if (class)
		return class;
	class = make_class(name, methods, like);
	if (class && type)
		keep_class(type, methods, class);
	return class;
}
