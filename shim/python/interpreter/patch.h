/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch.h - puts C functions around methods of Python classes.
 *
 * A wrapper is a built-in function whose `self` is the original: it has no Python frame, so
 * tracebacks do not show it. A patch point that does not exist is noted and left alone.
 */
#pragma once

#include "python/interpreter/api.h"

/* The ml_doc of a wrapper, for a signature, which built-in functions lack. */
#define PATCH_SIGNATURE(name) name "($self, /, *args, **kwargs)\n--\n\n"

/*
 * Replaces the method named method->ml_name of `owner` by a wrapper that gets the original as
 * `self`. Returns whether that worked.
 */
bool patch_class(PyObject *owner, PyMethodDef *method);

/* A wrapper that can be put in and taken out: when it is out, nothing shows that it was there. */
struct patch_guest {
	PyObject *owner, *original, *function, *bound;
	struct api_name name;
};

/* Makes a wrapper, which is out at first. Returns false if it cannot be made. */
bool patch_guest_make(struct patch_guest *guest, PyObject *owner, PyMethodDef *method);

/* Puts the wrapper in, unless other code replaced the method; also with an exception pending. */
void patch_guest_comes(struct patch_guest *guest);
void patch_guest_goes(struct patch_guest *guest);

/* A method of a module's class to be patched; `where` names the class in the notes. */
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

/* Patches a point that other versions may lack; notes it only if found. Returns whether it was. */
bool patch_optional(PyObject *module, struct patch_point *point);

/* Patches an optional attribute of one object, which is called without that object as `self`. */
bool patch_attribute(PyObject *object, PyMethodDef *method);

/*
 * Patches an optional function of the module `name`. The wrapper is pickled by its name, like the
 * original, so it cannot carry that, and gets NULL as `self`. *original stays set.
 */
bool patch_function(PyObject *module, const char *name, PyMethodDef *method, PyObject **original);

/* Notes a patch point as found or missing, for the database. A found one stays found. */
void patch_note(const char *where, const char *name, bool found);

/* Writes the notes, in each process that begins to record. */
void patch_report(void);
