/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - pointers to the CPython API of this process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct py_object PyObject;
typedef PyObject *(*py_wrapper)(PyObject *self, PyObject *args, PyObject *kwargs);

/*
 * A C function that gets its arguments as an array, not as tuple and dict. Built-in functions with
 * PY_FAST_KEYWORDS are of this type, and results of PyVectorcall_Function() (with PY_COUNT_FLAG).
 */
typedef PyObject *(*py_fast)(PyObject *self, PyObject *const *args, size_t count, PyObject *names);

#define PY_COUNT_FLAG ((size_t)1 << (8 * sizeof(size_t) - 1)) /* PY_VECTORCALL_ARGUMENTS_OFFSET */

typedef struct {
	const char *ml_name;
	py_wrapper ml_meth;
	int ml_flags;
	const char *ml_doc;
} PyMethodDef;

/* CPython's slot numbers and flags of types, the same in every version. */
enum {
	PY_SLOT_MAP_ITEM = 5,
	PY_SLOT_LIST_ITEM = 44,
	PY_SLOT_CALL = 50,
	PY_SLOT_CLEAR = 51,
	PY_SLOT_FREE = 52,
	PY_SLOT_GET = 54,
	PY_SLOT_ATTRIBUTE = 58,
	PY_SLOT_METHODS = 64,
	PY_SLOT_REPR = 66,
	PY_SLOT_SET_ATTRIBUTE = 69,
	PY_SLOT_TRAVERSE = 71,
	PY_TYPE_IS_BASE = 1 << 10,
	PY_TYPE_IS_COLLECTED = 1 << 14,
	PY_TYPE_DEFAULT = 1 << 18,
};

struct py_slot {
	int number;
	void (*function)(void);
};

struct py_spec {
	const char *name;
	int bytes, item_bytes;
	unsigned int flags;
	struct py_slot *slots; /* ends with number 0 */
};

struct py_allocator {
	void *context;
	void *(*malloc)(void *context, size_t size);
	void *(*calloc)(void *context, size_t count, size_t size);
	void *(*realloc)(void *context, void *address, size_t size);
	void (*free)(void *context, void *address);
};

#define PY_ALLOCATOR_RAW     0			/* PYMEM_DOMAIN_RAW */
#define PY_VARARGS_KEYWORDS (1 | 2)		/* METH_VARARGS | METH_KEYWORDS */
#define PY_FAST_KEYWORDS    (128 | 2)		/* METH_FASTCALL | METH_KEYWORDS */
#define PY_NO_ARGUMENT	     4			/* METH_NOARGS */
#define PY_ONE_ARGUMENT	     8			/* METH_O */

struct api {
#define X(type, name, params)	type(*name) params;
#define DATA(type, field, name) type *field;
#include "python/interpreter/api.def"
	void *(*interpreter)(void);	/* PyInterpreterState_Get, private before 3.9 */
	/* Returns 0 if there is no such attribute, -1 on an error. Private before 3.13, or NULL. */
	int (*PyObject_GetOptionalAttr)(PyObject *object, PyObject *name, PyObject **ret);
	/* get and set the C function that is run when an object is called; NULL before 3.12 */
	py_fast (*PyVectorcall_Function)(PyObject *object);
	void (*PyFunction_SetVectorcall)(PyObject *function, py_fast call);
} __attribute__((aligned(64)));

extern struct api py;

/* Releases the variable's reference at the end of its block. */
#define OWNED __attribute__((cleanup(api_drop)))

static inline __attribute__((always_inline)) void api_drop(PyObject **object)
{
	if (*object)
		py.Py_DecRef(*object);
}

static inline PyObject *api_take(PyObject **object)
{
	PyObject *taken = *object;

	*object = NULL;
	return taken;
}

/* Finds all functions of api.def. Returns false if this CPython lacks one: it is not followed. */
bool api_resolve(void);

bool api_main_interpreter(void);

/* Returns a module of sys.modules (a borrowed reference), or NULL. */
PyObject *api_module(const char *name);

/* Returns true in a daemonic process of multiprocessing, which is not allowed to have children. */
bool api_in_daemon(void);

/* Return an attribute (a new reference), or NULL. They never leave an exception. */
PyObject *api_get(PyObject *object, PyObject *name);
PyObject *api_get_named(PyObject *object, const char *name);

/* Returns true if the object has this attribute. PyObject_HasAttrString() prints since 3.13. */
bool api_has(PyObject *object, const char *name);

/* Follows attributes and indexes, "part.0.part", from `object` (may be NULL), also up to a '='. */
PyObject *api_get_path(PyObject *object, const char *path);

PyObject *api_slice(PyObject *tuple, ssize_t from);

/* The name of an attribute. Its string object is made once, at the first use. */
struct api_name {
	const char *text;
	PyObject *string;
};

PyObject *api_name(struct api_name *name);

PyObject *api_get_again(PyObject *object, struct api_name *name);

int64_t api_get_number(PyObject *object, const char *name, int64_t otherwise);
bool api_get_flag(PyObject *object, const char *name, bool otherwise);

/* Returns whether `value` is true, and drops it. NULL, or an exception: returns `otherwise`. */
bool api_flag(PyObject *value, bool otherwise);

/* Returns the bytes of a bytearray of this size; NULL for any other object. */
void *api_bytearray(PyObject *object, ssize_t size);

/* Returns `size` bytes that the object keeps for us as `name`, made if `make`; else NULL. */
void *api_memory(PyObject *object, struct api_name *name, ssize_t size, bool make);

/* Clears an exception. One of a signal handler (Ctrl-C) is raised again in the main thread. */
void api_clear_run(void);

bool api_is_string(PyObject *object);
bool api_is_int(PyObject *object);

/* Returns true if the object (may be NULL) has an attribute that is this text. */
bool api_has_text(PyObject *object, const char *name, const char *text);

/* Returns true if the name of the object's class is in `names`, a list that ends with NULL. */
bool api_is_of_type(PyObject *object, const char *const *names);

PyObject *api_itself(PyObject *none, PyObject *args, PyObject *kwargs);

/* Returns a call's first argument, which is `self` in methods, borrowed; NULL: there is none. */
PyObject *api_first(PyObject *args);

/* Returns an argument of a call (borrowed) by place or name, or NULL. `at` < 0: by name only. */
PyObject *api_argument(PyObject *args, PyObject *kwargs, ssize_t at, const char *name);

int64_t api_number(PyObject *object, int64_t otherwise);
