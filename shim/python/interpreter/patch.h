/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch.h - puts C functions around methods of Python classes and functions of modules.
 *
 * What is put around one is a wrapper (wrapper.h), which gets the original as `self` and has no
 * Python frame. A patch point that does not exist is noted and left alone.
 */
#pragma once

#include "python/interpreter/api.h"

/* Wraps the method or function method->ml_name of a class or module. Returns false on failure. */
bool patch_method(PyObject *owner, PyMethodDef *method);

/* A wrapper that can be put in and taken out again without leaving a trace. */
struct patch_guest {
	PyObject *owner, *original, *wrapper;
	struct api_name name;
};

/* Makes the wrapper without putting it in. Returns false on failure. */
bool patch_guest_make(struct patch_guest *guest, PyObject *owner, PyMethodDef *method);

/* Puts the wrapper in, unless other code replaced the method. An exception may be pending. */
void patch_guest_comes(struct patch_guest *guest);
void patch_guest_goes(struct patch_guest *guest);

/* A method to patch in a class of a module; `where` names the class in the notes. */
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

/* Patches the points, and notes each as found or missing. */
void patch_points(PyObject *module, struct patch_point *points, size_t count);

bool patch_has_method(PyObject *module, const struct patch_point *point);

/* Patches a point that some versions lack; notes it only if found. Returns true if it was found. */
bool patch_optional(PyObject *module, struct patch_point *point);

/*
 * Patches an optional attribute of one object, which is called without that object as `self`. The
 * original lives only as long as the attribute, of which a built-in function takes the place.
 */
bool patch_attribute(PyObject *object, PyMethodDef *method);

/* Notes a patch point as found or missing, for the database. A found one stays found. */
void patch_note(const char *where, const char *name, bool found);

/* Writes the notes, in each process that begins to record. */
void patch_report(void);
