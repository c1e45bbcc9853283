/* SPDX-License-Identifier: Apache-2.0 */
/* patch.h - puts wrappers (wrapper.h) around methods of Python classes and functions of modules. */
#pragma once

#include "python/interpreter/api.h"

/* Wraps method->ml_name of a class or module. Returns false on failure. */
bool patch_method(PyObject *owner, PyMethodDef *method);

struct patch_guest {
	PyObject *owner, *original, *wrapper;
	struct api_name name;
};

/* Makes a guest: a wrapper that is not yet in its class. Returns false on failure. */
bool patch_guest_make(struct patch_guest *guest, PyObject *owner, PyMethodDef *method);

/* Put the wrapper in, and take it out again. If other code replaced the method, they do nothing. */
void patch_guest_comes(struct patch_guest *guest);
void patch_guest_goes(struct patch_guest *guest);

/* A method to wrap. `where` is what notes call its class. */
struct patch_point {
	const char *class, *where;
	PyMethodDef method;
};

#define PATCH_POINT(module, class, name, function)                                                 \
	{                                                                                          \
		class, module ":" class,                                                           \
		{                                                                                  \
			name, function, PY_VARARGS_KEYWORDS, NULL                                  \
		}                                                                                  \
	}

void patch_points(PyObject *module, struct patch_point *points, size_t count);

bool patch_has_method(PyObject *module, const struct patch_point *point);

/* Patches a point that some versions lack. If it is found, notes that, and returns true. */
bool patch_optional(PyObject *module, struct patch_point *point);

/* Wraps a callable attribute of one object. The wrapper is called without the object as self. */
bool patch_attribute(PyObject *object, PyMethodDef *method);

/* Notes for the database whether a point was found. A point that was found once counts as found. */
void patch_note(const char *where, const char *name, bool found);

/* Records the notes. Called in each process that begins to record. */
void patch_report(void);
