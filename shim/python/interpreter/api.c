/* SPDX-License-Identifier: Apache-2.0 */
#include "python/interpreter/api.h"

#include <dlfcn.h>
#include <string.h>

#include "base/sys.h"
#include "slots/lookup.h"

struct api py;

bool api_resolve(void)
{
#define DATA(type, field, name)                                                                    \
	py.field = lookup_real(RTLD_DEFAULT, #name);                                               \
	if (!py.field)                                                                             \
		return false;
#define X(type, name, params)                                                                      \
	py.name = (type(*) params)lookup_real(RTLD_DEFAULT, #name);                                \
	if (!py.name)                                                                              \
		return false;
#include "python/interpreter/api.def"
	py.interpreter = (void *(*)(void))lookup_real(RTLD_DEFAULT, "PyInterpreterState_Get");
	if (!py.interpreter)	/* private before 3.9 */
		py.interpreter =
			(void *(*)(void))lookup_real(RTLD_DEFAULT, "_PyInterpreterState_Get");
	py.PyObject_GetOptionalAttr = (int (*)(PyObject *, PyObject *, PyObject **))(
		lookup_real(RTLD_DEFAULT, "PyObject_GetOptionalAttr")
			?: lookup_real(RTLD_DEFAULT, "_PyObject_LookupAttr"));
	py.PyFunction_SetVectorcall = (void (*)(PyObject *, py_fast))lookup_real(
		RTLD_DEFAULT, "PyFunction_SetVectorcall");
	if (py.PyFunction_SetVectorcall)
		py.PyVectorcall_Function = (py_fast(*)(PyObject *))lookup_real(
			RTLD_DEFAULT, "PyVectorcall_Function");
	return py.interpreter;
}

bool api_main_interpreter(void)
{
	return py.PyInterpreterState_GetID(py.interpreter()) == 0;
}

PyObject *api_module(const char *name)
{
	PyObject *modules = py.PySys_GetObject("modules");

	return modules ? py.PyDict_GetItemString(modules, name) : NULL;
}

static OFTEN bool is_exactly(PyObject *object, const PyObject *wanted)
{
	OWNED PyObject *type = py.PyObject_Type(object);

	return type == wanted;
}

void *api_bytearray(PyObject *object, ssize_t size)
{
	if (!is_exactly(object, py.bytearray_type) || py.PyByteArray_Size(object) != size)
		return NULL;
	return py.PyByteArray_AsString(object);
}

/* Gives an object a bytearray of zeroes as an attribute. Returns it; NULL: the class refuses. */
static PyObject *make_memory(PyObject *object, PyObject *name, ssize_t size)
{
	OWNED PyObject *bytes = py.PyByteArray_FromStringAndSize(NULL, size), *kept = NULL;

	if (bytes)
		memset(py.PyByteArray_AsString(bytes), 0, (size_t)size);
	if (bytes && py.PyObject_SetAttr(object, name, bytes) == 0)
		kept = api_get(object, name);
	py.PyErr_Clear();
	return kept && kept == bytes ? api_take(&kept) : NULL;
}

void *api_memory(PyObject *object, struct api_name *name, ssize_t size, bool make)
{
	PyObject *string = api_name(name);
	OWNED PyObject *bytes = string ? api_get(object, string) : NULL; /* the object holds it */

	if (!bytes && make && string)
		bytes = make_memory(object, string, size);
	return bytes ? api_bytearray(bytes, size) : NULL;
}

static int raise_again(void *exception)
{
	OWNED PyObject *held = exception;

	py.PyErr_SetObject(py.PyTuple_GetItem(held, 0), py.PyTuple_GetItem(held, 1));
	return -1;
}

void api_clear_run(void)
{
	OWNED PyObject *type = NULL, *value = NULL, *traceback = NULL, *exception = NULL;
	const bool ours = py.PyErr_Occurred() && py.PyErr_ExceptionMatches(*py.exception);

	py.PyErr_Fetch(&type, &value, &traceback);
	if (type && !ours && sys_gettid() == sys_getpid())
		exception = py.PyTuple_Pack(2, type, value ? value : py.none);
	if (exception && py.Py_AddPendingCall(raise_again, exception) == 0)
		exception = NULL;
	py.PyErr_Clear();
}

OFTEN bool api_is_string(PyObject *object)
{
	return is_exactly(object, py.string_type);
}

OFTEN bool api_is_int(PyObject *object)
{
	return is_exactly(object, py.int_type);
}

bool api_is_of_type(PyObject *object, const char *const *names)
{
	OWNED PyObject *type = object ? py.PyObject_Type(object) : NULL;
	OWNED PyObject *name = type ? api_get_named(type, "__name__") : NULL;
	bool is = false;

	for (; name && *names && !is; names++)
		is = py.PyUnicode_CompareWithASCIIString(name, *names) == 0;
	return is;
}

PyObject *api_itself(PyObject *none, PyObject *args, PyObject *kwargs)
{
	PyObject *self = py.PyTuple_GetItem(args, 0);

	if (self)
		py.Py_IncRef(self);
	return self;
}

OFTEN PyObject *api_get(PyObject *object, PyObject *name)
{
	PyObject *value = py.PyObject_GetAttr(object, name);

	if (!value)
		py.PyErr_Clear();
	return value;
}

PyObject *api_get_named(PyObject *object, const char *name)
{
	PyObject *value = py.PyObject_GetAttrString(object, name);

	if (!value)
		py.PyErr_Clear();
	return value;
}

bool api_has(PyObject *object, const char *name)
{
	OWNED PyObject *value = api_get_named(object, name);

	return value;
}

bool api_has_text(PyObject *object, const char *name, const char *text)
{
	OWNED PyObject *value = object ? api_get_named(object, name) : NULL;

	return value && api_is_string(value) &&
	       py.PyUnicode_CompareWithASCIIString(value, text) == 0;
}

PyObject *api_get_path(PyObject *object, const char *path)
{
	char part[256];
	size_t length;

	py.Py_IncRef(object);
	for (; object && *path && *path != '='; path += length + (path[length] == '.')) {
		OWNED PyObject *outer = object;

		length = strcspn(path, ".=");
		if (length >= sizeof(part))
			return NULL;
		memcpy(part, path, length);
		part[length] = '\0';
		object = part[0] >= '0' && part[0] <= '9'
				 ? py.PySequence_GetItem(outer, part[0] - '0')
				 : py.PyObject_GetAttrString(outer, part);
		if (!object)
			py.PyErr_Clear();
	}
	return object;
}

OFTEN PyObject *api_slice(PyObject *tuple, ssize_t from)
{
	const ssize_t size = py.PyTuple_Size(tuple);
	PyObject *slice = py.PyTuple_New(size > from ? size - from : 0);

	for (ssize_t i = from; slice && i < size; i++) {
		PyObject *item = py.PyTuple_GetItem(tuple, i);

		py.Py_IncRef(item);
		py.PyTuple_SetItem(slice, i - from, item);
	}
	return slice;
}

OFTEN PyObject *api_name(struct api_name *name)
{
	if (unlikely(!name->string)) {
		name->string = py.PyUnicode_InternFromString(name->text);
		if (!name->string)
			py.PyErr_Clear();
	}
	return name->string;
}

OFTEN PyObject *api_get_again(PyObject *object, struct api_name *name)
{
	PyObject *string = api_name(name);

	return string ? api_get(object, string) : NULL;
}

OFTEN int64_t api_number(PyObject *object, int64_t otherwise)
{
	long long value = py.PyLong_AsLongLong(object);

	if (value == -1 && py.PyErr_Occurred()) {
		py.PyErr_Clear();
		return otherwise;
	}
	return value;
}

int64_t api_get_number(PyObject *object, const char *name, int64_t otherwise)
{
	OWNED PyObject *value = api_get_named(object, name);

	return value ? api_number(value, otherwise) : otherwise;
}

OFTEN bool api_flag(PyObject *value, bool otherwise)
{
	int truth;

	if (!value)
		return otherwise;
	truth = py.PyObject_IsTrue(value);
	if (truth < 0)
		py.PyErr_Clear();
	py.Py_DecRef(value);
	return truth < 0 ? otherwise : truth;
}

bool api_get_flag(PyObject *object, const char *name, bool otherwise)
{
	return api_flag(api_get_named(object, name), otherwise);
}

OFTEN PyObject *api_first(PyObject *args)
{
	PyObject *first = py.PyTuple_GetItem(args, 0);

	py.PyErr_Clear();
	return first;
}

PyObject *api_argument(PyObject *args, PyObject *kwargs, ssize_t at, const char *name)
{
	PyObject *value = kwargs ? py.PyDict_GetItemString(kwargs, name) : NULL;

	if (!value && at >= 0 && at < py.PyTuple_Size(args))
		value = py.PyTuple_GetItem(args, at);
	py.PyErr_Clear();
	return value;
}

bool api_in_daemon(void)
{
	static int32_t known_pid;
	static bool servant;
	const int32_t pid = sys_getpid();
	OWNED PyObject *process = NULL;

	if (likely(known_pid == pid))
		return servant;
	process = api_get_path(api_module("multiprocessing.process"), "_current_process");
	servant = process && api_get_flag(process, "daemon", false);
	known_pid = pid;
	return servant;
}
