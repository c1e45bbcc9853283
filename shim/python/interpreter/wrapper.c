/* SPDX-License-Identifier: Apache-2.0 */
#include "python/interpreter/wrapper.h"

#include "base/sys.h"

/* Our part of an object, behind CPython's header, whose size depends on the version. */
struct wrapper {
	const PyMethodDef *method; /* NULL: Python code made this object by calling the class */
	PyObject *original;	   /* NULL: Python code made it, or the collector cleared it */
	bool binds;
};

static ssize_t header_bytes;
static PyObject *class;

static OFTEN struct wrapper *wrapper_of(PyObject *self)
{
	return (struct wrapper *)((char *)self + header_bytes);
}

static OFTEN PyObject *on_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
	const PyMethodDef *method = wrapper_of(self)->method;
	OWNED PyObject *original = wrapper_of(self)->original;

	if (unlikely(!original)) {
		py.PyErr_SetObject(*py.type_error, class);
		return NULL;
	}
	py.Py_IncRef(original);
	if (method->ml_flags == WRAPPER_OF_ROW)
		return ((wrapper_of_row)(void (*)(void))method->ml_meth)(original, args, kwargs,
									  method);
	return method->ml_meth(original, args, kwargs);
}

static OFTEN PyObject *on_bind(PyObject *self, PyObject *object, PyObject *owner)
{
	if (object && object != py.none && wrapper_of(self)->binds)
		return py.PyMethod_New(self, object);
	py.Py_IncRef(self);
	return self;
}

/*
 * Returns an attribute of the wrapper or, if it has none of that name, of the original. __class__
 * is the original's, so that isinstance() and inspect take the wrapper for a function.
 */
static PyObject *on_attribute(PyObject *self, PyObject *name)
{
	OWNED PyObject *value = py.PyObject_GenericGetAttr(self, name);
	PyObject *original = wrapper_of(self)->original;

	if (!original ||
	    (value ? value != class : !py.PyErr_ExceptionMatches(*py.attribute_error)))
		return api_take(&value);
	py.PyErr_Clear();
	return py.PyObject_GetAttr(original, name);
}

/* Sets what only the original has, such as __code__ or __defaults__, in the original. */
static int on_set(PyObject *self, PyObject *name, PyObject *value)
{
	PyObject *original = wrapper_of(self)->original;
	OWNED PyObject *own = py.PyObject_GenericGetAttr(self, name), *found = NULL;

	py.PyErr_Clear();
	if (!own && original)
		found = api_get(original, name);
	return found ? py.PyObject_SetAttr(original, name, value)
		     : py.PyObject_GenericSetAttr(self, name, value);
}

static PyObject *on_repr(PyObject *self)
{
	PyObject *original = wrapper_of(self)->original;

	return py.PyObject_Repr(original ? original : class);
}

/* Returns true if the wrapper's module has this wrapper under this name. */
static bool is_found(PyObject *self, PyObject *name)
{
	OWNED PyObject *module_name = api_get_named(self, "__module__"), *found = NULL;
	const bool named = module_name && api_is_string(module_name) && api_is_string(name);
	const char *text = named ? py.PyUnicode_AsUTF8(module_name) : NULL;
	PyObject *module = text ? api_module(text) : NULL;

	text = module ? py.PyUnicode_AsUTF8(name) : NULL;
	if (text)
		found = api_get_path(module, text);
	py.PyErr_Clear();
	return found == self;
}

/* Returns what pickle stores for `object`: a call, operator.getitem((object,), 0). */
static PyObject *reduce_to(PyObject *object)
{
	OWNED PyObject *module = py.PyImport_ImportModule("_operator");
	OWNED PyObject *take = module ? py.PyObject_GetAttrString(module, "getitem") : NULL;
	OWNED PyObject *items = take ? py.PyTuple_Pack(1, object) : NULL;
	OWNED PyObject *at = items ? py.PyLong_FromLongLong(0) : NULL;
	OWNED PyObject *args = at ? py.PyTuple_Pack(2, items, at) : NULL;

	return args ? py.PyTuple_Pack(2, take, args) : NULL;
}

/* Pickles the wrapper by name, or the original if the module has another object there. */
static PyObject *on_reduce(PyObject *self, PyObject *protocol)
{
	PyObject *original = wrapper_of(self)->original;
	OWNED PyObject *name = py.PyObject_GetAttrString(self, "__qualname__");

	if (!name || !original || is_found(self, name))
		return api_take(&name);
	return reduce_to(original);
}

static PyObject *on_copy(PyObject *self, PyObject *memo)
{
	py.Py_IncRef(self);
	return self;
}

/* Visits what the object refers to, except its class: not all versions want that to be visited. */
static int on_traverse(PyObject *self, int (*visit)(PyObject *, void *), void *context)
{
	PyObject *original = wrapper_of(self)->original;

	return original ? visit(original, context) : 0;
}

static int on_clear(PyObject *self)
{
	OWNED PyObject *original = api_take(&wrapper_of(self)->original);

	return 0;
}

/* Frees the object, whose __dict__ and weak references CPython has cleared already. */
static void on_free(PyObject *self)
{
	OWNED PyObject *type = py.PyObject_Type(self), *held = type; /* the object's reference */

	py.PyObject_GC_UnTrack(self);
	on_clear(self);
	py.PyObject_GC_Del(self);
}

/* A class made of this base has a __dict__ in every version of CPython. */
static PyObject *make_base(void)
{
	static PyMethodDef methods[] = {
		{"__reduce_ex__", (py_wrapper)(void (*)(void))on_reduce, PY_ONE_ARGUMENT, NULL},
		{"__copy__", (py_wrapper)(void (*)(void))on_copy, PY_NO_ARGUMENT, NULL},
		{"__deepcopy__", (py_wrapper)(void (*)(void))on_copy, PY_ONE_ARGUMENT, NULL},
		{NULL, NULL, 0, NULL},
	};
	static struct py_slot slots[] = {
		{PY_SLOT_CALL, (void (*)(void))on_call},
		{PY_SLOT_CLEAR, (void (*)(void))on_clear},
		{PY_SLOT_FREE, (void (*)(void))on_free},
		{PY_SLOT_GET, (void (*)(void))on_bind},
		{PY_SLOT_ATTRIBUTE, (void (*)(void))on_attribute},
		{PY_SLOT_REPR, (void (*)(void))on_repr},
		{PY_SLOT_SET_ATTRIBUTE, (void (*)(void))on_set},
		{PY_SLOT_METHODS, (void (*)(void))methods},
		{PY_SLOT_TRAVERSE, (void (*)(void))on_traverse},
		{0, NULL},
	};
	static struct py_spec spec = {
		"builtins.function", 0, 0,
		PY_TYPE_IS_BASE | PY_TYPE_IS_COLLECTED | PY_TYPE_DEFAULT, slots};

	header_bytes = api_get_number(py.object_type, "__basicsize__", 0);
	if (!header_bytes)
		return NULL;
	spec.bytes = (int)(header_bytes + (ssize_t)sizeof(struct wrapper));
	return py.PyType_FromSpec(&spec);
}

static bool make_class(void)
{
	OWNED PyObject *base = make_base(), *dict = py.PyDict_New();
	OWNED PyObject *bases = base ? py.PyTuple_Pack(1, base) : NULL;
	OWNED PyObject *name = py.PyUnicode_FromString("function");
	OWNED PyObject *module = py.PyUnicode_FromString("builtins"), *made = NULL;

	if (dict && bases && name && module &&
	    py.PyDict_SetItemString(dict, "__module__", module) == 0)
		made = py.PyObject_CallFunctionObjArgs(py.type_type, name, bases, dict, NULL);
	if (made && !class)
		class = api_take(&made);
	return class;
}

static bool take_attribute(PyObject *self, PyObject *original, const char *name)
{
	OWNED PyObject *value = api_get_named(original, name);

	return !value || py.PyObject_SetAttrString(self, name, value) == 0;
}

/* Does what functools.wraps() does, without Python code, in which a signal handler could raise. */
static bool take_looks(PyObject *self, PyObject *original)
{
	OWNED PyObject *dict = api_get_named(self, "__dict__");
	OWNED PyObject *update = dict ? api_get_named(dict, "update") : NULL;
	OWNED PyObject *entries = api_get_named(original, "__dict__"), *done = NULL;

	/* torch.compile reads a function's memory, and so must trace the original. */
	if (py.PyObject_SetAttrString(self, "_torchdynamo_inline", original) < 0 ||
	    !take_attribute(self, original, "__module__") ||
	    !take_attribute(self, original, "__doc__"))
		return false;
	if (update && entries)
		done = py.PyObject_CallFunctionObjArgs(update, entries, NULL);
	return (done || !entries) && py.PyObject_SetAttrString(self, "__wrapped__", original) == 0;
}

/* Returns true if calls get the object as self: `owner` is a class, or `original` has __get__. */
static bool gets_object(PyObject *owner, PyObject *original)
{
	OWNED PyObject *kind = py.PyObject_Type(owner), *type = py.PyObject_Type(original);

	return py.PyType_IsSubtype(kind, py.type_type) || api_has(type, "__get__");
}

PyObject *wrapper_make(PyObject *owner, PyMethodDef *method, PyObject *original)
{
	OWNED PyObject *self = NULL;

	if (class || make_class())
		self = py.PyObject_CallObject(class, NULL);
	if (self && take_looks(self, original)) {
		py.Py_IncRef(original);
		*wrapper_of(self) =
			(struct wrapper){method, original, gets_object(owner, original)};
		return api_take(&self);
	}
	py.PyErr_Clear();
	return NULL;
}

bool wrapper_is(PyObject *object)
{
	OWNED PyObject *type = object ? py.PyObject_Type(object) : NULL;

	return type && type == class;
}

bool wrapper_calls(PyObject *object, const PyMethodDef *method)
{
	return wrapper_is(object) && wrapper_of(object)->method == method;
}
