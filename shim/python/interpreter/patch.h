/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch.h - wraps methods of Python classes in C functions.
 *
 * A wrapper is a built-in function whose `self` is the original method. It has no Python frame, so
 * tracebacks do not show it. A patch point that does not exist is noted and left alone.
 */
#pragma once

#include "python/interpreter/api.h"

/* A wrapper's ml_doc, which gives it a signature: built-in functions have none otherwise. */
#define PATCH_SIGNATURE(name) name "($self, /, *args, **kwargs)\n--\n\n"

/*
 * Replaces method method->ml_name of class `owner` by a wrapper that gets the original as `self`.
 * Returns true on success.
 */
bool patch_class(PyObject *owner, PyMethodDef *method);

/* A wrapper that can be put in and taken out again without leaving a trace. */
struct patch_guest {
	PyObject *owner, *original, *function, *bound;
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
			name, function, PY_VARARGS_KEYWORDS, PATCH_SIGNATURE(name)                 \
		}                                                                                  \
	}

/* Patches the points, and notes each as found or missing. */
void patch_points(PyObject *module, struct patch_point *points, size_t count);

bool patch_has_method(PyObject *module, const struct patch_point *point);

/* Patches a point that some versions lack; notes it only if found. Returns true if it was found. */
bool patch_optional(PyObject *module, struct patch_point *point);

/* Patches an attribute of one object, if there is one, called without the object as `self`. */
bool patch_attribute(PyObject *object, PyMethodDef *method);

/*
 * Patches a function of module `name`, if it exists. The wrapper is pickled by its name, like the
 * original, so it cannot carry the original: its `self` is NULL, and *original keeps the function.
 */
bool patch_function(PyObject *module, const char *name, PyMethodDef *method, PyObject **original);

/* Notes a patch point as found or missing, for the database. A found one stays found. */
void patch_note(const char *where, const char *name, bool found);

/* Writes the notes, in each process that begins to record. */
void patch_report(void);
