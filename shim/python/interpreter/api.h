/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - the CPython that runs in this process, through pointers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct py_object PyObject;	/* CPython's names, so that the code reads as usual */
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
	void *(*interpreter)(void);	/* PyInterpreterState_Get under either of its names */
} __attribute__((aligned(64)));

extern struct api py;

/*
 * A variable that owns its reference, if it is not NULL: it is given back at the end of the block.
 * Not when the thread is unwound, as Python ends a daemon thread that has no GIL then: hence
 * -fno-exceptions in meson.build.
 */
#define OWNED __attribute__((cleanup(api_drop)))

static inline __attribute__((always_inline)) void api_drop(PyObject **object)
{
	if (*object)
		py.Py_DecRef(*object);
}

/* Hands the reference on to the caller. */
static inline PyObject *api_take(PyObject **object)
{
	PyObject *taken = *object;

	*object = NULL;
	return taken;
}

/* Looks everything up. False: not a CPython that we know; the Python side stays off. */
bool api_resolve(void);

/* Only the main interpreter is patched. */
bool api_main_interpreter(void);

/* Of sys.modules, borrowed; NULL: it is not there. */
PyObject *api_module(const char *name);

/*
 * Whether this process is a daemon of multiprocessing's: somebody's worker, which never trains and
 * may have no children.
 */
bool api_in_daemon(void);

/* Attribute or NULL; never leaves an exception behind. New reference. */
PyObject *api_get(PyObject *object, PyObject *name);
PyObject *api_get_named(PyObject *object, const char *name);

/* PyObject_HasAttrString() prints what a __getattr__ raises, since 3.13. */
bool api_has(PyObject *object, const char *name);

/* The same of a path, which ends at a '=' or at the end: "part.0.part", a number being an item. */
PyObject *api_get_path(PyObject *object, const char *path);

/* What a tuple has from there on; NULL with an exception. */
PyObject *api_slice(PyObject *tuple, ssize_t from);

/* A name that is asked for again and again: its string is made once, and kept. */
struct api_name {
	const char *text;
	PyObject *string;
};

/* Borrowed. NULL: no memory, and no exception. */
PyObject *api_name(struct api_name *name);

/* api_get() of such a name. */
PyObject *api_get_again(PyObject *object, struct api_name *name);

/* The attribute as a number, or `otherwise` where it is absent or none. */
int64_t api_get_number(PyObject *object, const char *name, int64_t otherwise);
bool api_get_flag(PyObject *object, const char *name, bool otherwise);

/* Takes `value`, or `otherwise` where it is NULL or has no truth. */
bool api_flag(PyObject *value, bool otherwise);

/* What a bytearray of exactly this size holds; NULL for anything else: a class may answer any
 * attribute with something of its own. */
void *api_bytearray(PyObject *object, ssize_t size);

/*
 * Memory of `size` bytes, zeroed at first, that `object` keeps under that name. NULL: there is
 * none, and `make` is false or it cannot be made.
 */
void *api_memory(PyObject *object, struct api_name *name, ssize_t size, bool make);

bool api_is_string(PyObject *object);
bool api_is_int(PyObject *object);

/* Is the name of its class one of these, which end with NULL? */
bool api_is_of_type(PyObject *object, const char *const *names);

/* An __iter__ that returns what it is called of. */
PyObject *api_itself(PyObject *none, PyObject *args, PyObject *kwargs);

/* Of a call, by name or by place; at < 0: by name only. Borrowed. */
PyObject *api_argument(PyObject *args, PyObject *kwargs, ssize_t at, const char *name);

/* A Python int, or `otherwise`. */
int64_t api_number(PyObject *object, int64_t otherwise);
