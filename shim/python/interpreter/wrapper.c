/* SPDX-License-Identifier: Apache-2.0 */
#include "python/interpreter/wrapper.h"

#include "base/sys.h"

/* Lies behind CPython's own header of an object, whose size depends on the build of CPython. */
struct wrapper {
	const PyMethodDef *method; /* NULL: Python code made this object by calling the class */
	PyObject *original;
};

static ssize_t header_bytes;
static PyObject *class;

static OFTEN struct wrapper *wrapper_of(PyObject *self)
{
	return (struct wrapper *)((char *)self + header_bytes);
}

/* __call__ */
static OFTEN PyObject *on_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
	const struct wrapper *wrapper = wrapper_of(self);

	if (likely(wrapper->method))
		return wrapper->method->ml_meth(wrapper->original, args, kwargs);
	py.PyErr_SetObject(*py.type_error, class);
	return NULL;
}

/* __get__ */
static OFTEN PyObject *on_bind(PyObject *self, PyObject *object, PyObject *owner)
{
	if (object && object != py.none)
		return py.PyMethod_New(self, object);
	py.Py_IncRef(self);
	return self;
}

/* __getattribute__: what the wrapper does not have, its original may have. */
static PyObject *on_attribute(PyObject *self, PyObject *name)
{
	PyObject *value = py.PyObject_GenericGetAttr(self, name);
	PyObject *original = wrapper_of(self)->original;

	if (value || !original || !py.PyErr_ExceptionMatches(*py.attribute_error))
		return value;
	py.PyErr_Clear();
	return py.PyObject_GetAttr(original, name);
}

static PyObject *on_repr(PyObject *self)
{
	PyObject *original = wrapper_of(self)->original;

	return py.PyObject_Repr(original ? original : class);
}

/* __reduce_ex__: a text is the name under which an object is found in its module. */
static PyObject *on_reduce(PyObject *self, PyObject *protocol)
{
	return py.PyObject_GetAttrString(self, "__qualname__");
}

/* CPython's numbers of the slots, which are the same in every version. */
enum { SLOT_CALL = 50, SLOT_GET = 54, SLOT_ATTRIBUTE = 58, SLOT_METHODS = 64, SLOT_REPR = 66 };

#define TYPE_IS_BASE   (1u << 10)
#define TYPE_HAS_CACHE (1u << 18) /* Py_TPFLAGS_DEFAULT */

/* Makes a class with the calls above. Only a subclass has, in every version, a __dict__. */
static PyObject *make_base(void)
{
	static PyMethodDef methods[] = {
		{"__reduce_ex__", (py_wrapper)(void (*)(void))on_reduce, PY_ONE_ARGUMENT, NULL},
		{NULL, NULL, 0, NULL},
	};
	static struct py_slot slots[] = {
		{SLOT_CALL, (void (*)(void))on_call},
		{SLOT_GET, (void (*)(void))on_bind},
		{SLOT_ATTRIBUTE, (void (*)(void))on_attribute},
		{SLOT_REPR, (void (*)(void))on_repr},
		{SLOT_METHODS, (void (*)(void))methods},
		{0, NULL},
	};
	static struct py_spec spec = {"builtins.function", 0, 0, TYPE_IS_BASE | TYPE_HAS_CACHE,
				      slots};

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
	OWNED PyObject *module = py.PyUnicode_FromString("builtins"), *args = NULL;

	if (dict && bases && name && module &&
	    py.PyDict_SetItemString(dict, "__module__", module) == 0)
		args = py.PyTuple_Pack(3, name, bases, dict);
	if (args)
		class = py.PyObject_CallObject(py.type_type, args);
	return class;
}

/* Does what functools.wraps() does, which knows every version's attributes. */
static bool take_looks(PyObject *self, PyObject *original)
{
	OWNED PyObject *module = py.PyImport_ImportModule("functools");
	OWNED PyObject *update = module ? api_get_named(module, "update_wrapper") : NULL;
	OWNED PyObject *args = update ? py.PyTuple_Pack(2, self, original) : NULL;
	OWNED PyObject *updated = args ? py.PyObject_CallObject(update, args) : NULL;

	return updated;
}

PyObject *wrapper_make(PyMethodDef *method, PyObject *original)
{
	OWNED PyObject *self = NULL;

	if (class || make_class())
		self = py.PyObject_CallObject(class, NULL);
	if (self && take_looks(self, original)) {
		py.Py_IncRef(original);
		*wrapper_of(self) = (struct wrapper){method, original};
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
