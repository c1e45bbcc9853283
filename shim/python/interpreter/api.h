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
 * A call without a tuple and a dict: of a built-in function with PY_FAST_KEYWORDS, or of any object
 * that has such a function. `count` has PY_COUNT_FLAG in the latter.
 */
typedef PyObject *(*py_fast)(PyObject *self, PyObject *const *args, size_t count, PyObject *names);

#define PY_COUNT_FLAG ((size_t)1 << (8 * sizeof(size_t) - 1)) /* PY_VECTORCALL_ARGUMENTS_OFFSET */

typedef struct {
	const char *ml_name;
	py_wrapper ml_meth;
	int ml_flags;
	const char *ml_doc;
} PyMethodDef;

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
	/*
	 * Both are NULL before 3.12. They get the C function that a call of an object runs, and
	 * set it.
	 */
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

/* Finds the functions. Returns false if this CPython lacks one, and so is not followed. */
bool api_resolve(void);

bool api_main_interpreter(void);

/* Returns a module of sys.modules, borrowed, or NULL. */
PyObject *api_module(const char *name);

/* Returns true in a daemon of multiprocessing, which may have no children. */
bool api_in_daemon(void);

/* Returns a new reference, or NULL; never leaves an exception. */
PyObject *api_get(PyObject *object, PyObject *name);
PyObject *api_get_named(PyObject *object, const char *name);

/* Returns true if the object has this attribute. PyObject_HasAttrString() prints since 3.13. */
bool api_has(PyObject *object, const char *name);

/* Returns what `path`, such as "part.0.part" (0: an index), leads to. '=' ends it, too. */
PyObject *api_get_path(PyObject *object, const char *path);

PyObject *api_slice(PyObject *tuple, ssize_t from);

/* A name whose string object is made once. */
struct api_name {
	const char *text;
	PyObject *string;
};

PyObject *api_name(struct api_name *name);

PyObject *api_get_again(PyObject *object, struct api_name *name);

int64_t api_get_number(PyObject *object, const char *name, int64_t otherwise);
bool api_get_flag(PyObject *object, const char *name, bool otherwise);

/* Returns whether `value` is true, and drops it; `otherwise` if it is NULL or cannot tell. */
bool api_flag(PyObject *value, bool otherwise);

/* Returns the bytes of a bytearray of this size; NULL for any other object. */
void *api_bytearray(PyObject *object, ssize_t size);

/* Returns the bytes that the object keeps as `name`, or NULL. `make`: if missing, makes them. */
void *api_memory(PyObject *object, struct api_name *name, ssize_t size, bool make);

/* Keeps a signal handler's exception (Ctrl-C) for the main thread, and clears others. */
void api_clear_run(void);

bool api_is_string(PyObject *object);
bool api_is_int(PyObject *object);

/* Returns true if the class's name is one of `names`, which NULL ends. */
bool api_is_of_type(PyObject *object, const char *const *names);

PyObject *api_itself(PyObject *none, PyObject *args, PyObject *kwargs);

/* Returns an argument, borrowed, or NULL. `at` < 0: by name only. */
PyObject *api_argument(PyObject *args, PyObject *kwargs, ssize_t at, const char *name);

int64_t api_number(PyObject *object, int64_t otherwise);
