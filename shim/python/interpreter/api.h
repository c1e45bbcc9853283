/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - the CPython that runs in this process, through pointers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct py_object PyObject;	/* CPython's names, so that code reads as usual */
typedef PyObject *(*py_wrapper)(PyObject *self, PyObject *args, PyObject *kwargs);

typedef struct {
	const char *ml_name;
	py_wrapper ml_meth;
	int ml_flags;
	const char *ml_doc;
} PyMethodDef;

struct py_allocator {
	void *context;
	void *(*malloc)(void *context, size_t size);
	void *(*calloc)(void *context, size_t count, size_t size);
	void *(*realloc)(void *context, void *address, size_t size);
	void (*free)(void *context, void *address);
};

#define PY_ALLOCATOR_RAW     0			/* PYMEM_DOMAIN_RAW */
#define PY_VARARGS_KEYWORDS (1 | 2)		/* METH_VARARGS | METH_KEYWORDS */
#define PY_ONE_ARGUMENT	     8			/* METH_O */

struct api {
#define X(type, name, params)	type(*name) params;
#define DATA(type, field, name) type *field;
#include "python/interpreter/api.def"
	void *(*interpreter)(void);	/* PyInterpreterState_Get, under one of its two names */
} __attribute__((aligned(64)));

extern struct api py;

/*
 * Marks a variable that owns its reference, which is released at the end of the block; but not when
 * the thread is unwound, which Python does to end a daemon thread that does not hold the GIL: hence
 * -fno-exceptions in meson.build.
 */
#define OWNED __attribute__((cleanup(api_drop)))

static inline __attribute__((always_inline)) void api_drop(PyObject **object)
{
	if (*object)
		py.Py_DecRef(*object);
}

/* Returns the reference of an OWNED variable, which no longer owns it. */
static inline PyObject *api_take(PyObject **object)
{
	PyObject *taken = *object;

	*object = NULL;
	return taken;
}

/* Looks everything up. False: this is no known CPython, and the Python side stays off. */
bool api_resolve(void);

/* Whether this is the main interpreter, the only one that is patched. */
bool api_main_interpreter(void);

/* Returns a module in sys.modules, borrowed; NULL: it is not there. */
PyObject *api_module(const char *name);

/*
 * Whether this process is a daemon of multiprocessing's: a worker that never trains and may have no
 * children.
 */
bool api_in_daemon(void);

/* Returns an attribute as a new reference, or NULL; never leaves an exception behind. */
PyObject *api_get(PyObject *object, PyObject *name);
PyObject *api_get_named(PyObject *object, const char *name);

/* Whether an object has an attribute. Since 3.13 PyObject_HasAttrString() prints exceptions. */
bool api_has(PyObject *object, const char *name);

/* Returns the attribute at a path ending at '=' or its end: "part.0.part"; a number is an item. */
PyObject *api_get_path(PyObject *object, const char *path);

/* Returns a tuple's items from `from` on; NULL with an exception. */
PyObject *api_slice(PyObject *tuple, ssize_t from);

/* A name that is used again and again: its string object is made once, and held. */
struct api_name {
	const char *text;
	PyObject *string;
};

/* Returns the string object, borrowed; NULL without memory, and without an exception. */
PyObject *api_name(struct api_name *name);

/* Does api_get() with a name that is used again and again. */
PyObject *api_get_again(PyObject *object, struct api_name *name);

/* Returns an attribute as a number, or `otherwise` if it is absent or not a number. */
int64_t api_get_number(PyObject *object, const char *name, int64_t otherwise);
bool api_get_flag(PyObject *object, const char *name, bool otherwise);

/* Returns the truth of `value`, or `otherwise` if it is NULL or has none. Takes the reference. */
bool api_flag(PyObject *value, bool otherwise);

/*
 * Returns the contents of a bytearray with exactly this size; NULL for anything else, since a class
 * may answer any attribute.
 */
void *api_bytearray(PyObject *object, ssize_t size);

/*
 * Returns memory of `size` bytes, zeroed at first, that `object` holds under this name. NULL: there
 * is none, and `make` is false or making it failed.
 */
void *api_memory(PyObject *object, struct api_name *name, ssize_t size, bool make);

bool api_is_string(PyObject *object);
bool api_is_int(PyObject *object);

/* Whether the name of an object's class is one of `names`, which end with NULL. */
bool api_is_of_type(PyObject *object, const char *const *names);

/* An __iter__ that returns its own object. */
PyObject *api_itself(PyObject *none, PyObject *args, PyObject *kwargs);

/* Returns an argument of a call by place or name (at < 0: name only), borrowed, or NULL. */
PyObject *api_argument(PyObject *args, PyObject *kwargs, ssize_t at, const char *name);

/* Returns the value of a Python int, or `otherwise`. */
int64_t api_number(PyObject *object, int64_t otherwise);
