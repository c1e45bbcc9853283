/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - pointers to the CPython API of this process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct py_object PyObject;	/* CPython's type names, so that code looks familiar */
typedef PyObject *(*py_wrapper)(PyObject *self, PyObject *args, PyObject *kwargs);

typedef struct {
	const char *ml_name;
	py_wrapper ml_meth;
	int ml_flags;
	const char *ml_doc;
} PyMethodDef;

/* PyType_Slot and PyType_Spec, of which a class is made. */
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
#define PY_NO_ARGUMENT	     4			/* METH_NOARGS */
#define PY_ONE_ARGUMENT	     8			/* METH_O */

struct api {
#define X(type, name, params)	type(*name) params;
#define DATA(type, field, name) type *field;
#include "python/interpreter/api.def"
	void *(*interpreter)(void);	/* PyInterpreterState_Get, under either of its names */
} __attribute__((aligned(64)));

extern struct api py;

/*
 * Marks a variable that owns its reference: it is released at the end of the block. It is not
 * released when Python unwinds the thread, to end a daemon thread that does not hold the GIL: hence
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

/* Looks everything up. Returns false for an unknown CPython: then nothing of Python is followed. */
bool api_resolve(void);

/* Returns true in the main interpreter, the only one that is patched. */
bool api_main_interpreter(void);

/* Returns a module of sys.modules, borrowed, or NULL if it is not there. */
PyObject *api_module(const char *name);

/*
 * Returns true if this process is a daemon of multiprocessing: a worker, which never trains and may
 * have no children.
 */
bool api_in_daemon(void);

/* Returns an attribute as a new reference, or NULL; never leaves an exception behind. */
PyObject *api_get(PyObject *object, PyObject *name);
PyObject *api_get_named(PyObject *object, const char *name);

/* Returns true if an object has an attribute. PyObject_HasAttrString() prints since 3.13. */
bool api_has(PyObject *object, const char *name);

/* Returns the attribute at a path that ends at '=' or at its end: "part.0.part"; 0 is an index. */
PyObject *api_get_path(PyObject *object, const char *path);

/* Returns a tuple of the items from `from` on; NULL with an exception. */
PyObject *api_slice(PyObject *tuple, ssize_t from);

/* A name that is used often: its string object is made once, and kept. */
struct api_name {
	const char *text;
	PyObject *string;
};

/* Returns the string object, borrowed. If memory is short, returns NULL without an exception. */
PyObject *api_name(struct api_name *name);

/* Does api_get() with a name that is used often. */
PyObject *api_get_again(PyObject *object, struct api_name *name);

/* Returns an attribute as a number, or `otherwise` if it is absent or not a number. */
int64_t api_get_number(PyObject *object, const char *name, int64_t otherwise);
bool api_get_flag(PyObject *object, const char *name, bool otherwise);

/* Returns the truth of `value`, or `otherwise` if it is NULL or has none. Steals the reference. */
bool api_flag(PyObject *value, bool otherwise);

/*
 * Returns the contents of a bytearray of exactly this size; NULL for any other object, since a
 * class may answer to any attribute name.
 */
void *api_bytearray(PyObject *object, ssize_t size);

/*
 * Returns memory of `size` bytes, zeroed at first, that `object` holds as attribute `name`. Returns
 * NULL if there is none and `make` is false, or if making it failed.
 */
void *api_memory(PyObject *object, struct api_name *name, ssize_t size, bool make);

/*
 * Clears the exception of Python code that we ran. One that a signal handler of the program raised
 * in that code, as for Ctrl-C, is raised again when the main thread's own code goes on.
 */
void api_clear_run(void);

bool api_is_string(PyObject *object);
bool api_is_int(PyObject *object);

/* Returns true if the name of an object's class is one of `names`, which NULL ends. */
bool api_is_of_type(PyObject *object, const char *const *names);

/* An __iter__ that returns the object itself. */
PyObject *api_itself(PyObject *none, PyObject *args, PyObject *kwargs);

/* Returns a call's argument by place or name (at < 0: name only), borrowed; NULL if not given. */
PyObject *api_argument(PyObject *args, PyObject *kwargs, ssize_t at, const char *name);

/* Returns the value of a Python int, or `otherwise`. */
int64_t api_number(PyObject *object, int64_t otherwise);
