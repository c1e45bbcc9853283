/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch.h - put C functions around methods of Python classes.
 *
 * A wrapper is a built-in function whose `self` is the original: no Python frame, so nothing of us
 * shows in tracebacks. A patch point that is not there is noted and left alone.
 */
#pragma once

#include "python/interpreter/api.h"

/* ml_doc of a wrapper: gives it a signature, which built-in functions lack. */
#define PATCH_SIGNATURE(name) name "($self, /, *args, **kwargs)\n--\n\n"

/*
 * Replaces owner.NAME, NAME being method->ml_name, by a wrapper that gets the original as `self`.
 * True: patched.
 */
bool patch_class(PyObject *owner, PyMethodDef *method);

/* A wrapper that comes and goes: while it is away, nobody can see that it ever was there. */
struct patch_guest {
	PyObject *owner, *original, *function, *bound;
	struct api_name name;
};

/* False: it cannot be made. It is away at first. */
bool patch_guest_make(struct patch_guest *guest, PyObject *owner, PyMethodDef *method);

/* Where somebody else has put something there, that stays. With or without an exception pending. */
void patch_guest_comes(struct patch_guest *guest);
void patch_guest_goes(struct patch_guest *guest);

/* A method of a class of a module, to be patched so; `where` names the class in the notes. */
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

/* Notes each as found or missing. */
void patch_points(PyObject *module, struct patch_point *points, size_t count);

bool patch_has_method(PyObject *module, const struct patch_point *point);

/* Of what other versions may do without: it is noted only where it is there. True: it is. */
bool patch_optional(PyObject *module, struct patch_point *point);

/* The same for an attribute of one object, which is called without that object. */
bool patch_attribute(PyObject *object, PyMethodDef *method);

/*
 * The same for a function of the module `name`: pickled by its name, as the original is, so it
 * cannot carry that, and gets NULL as `self`. *original stays set.
 */
bool patch_function(PyObject *module, const char *name, PyMethodDef *method, PyObject **original);

/* Notes a patch point as found or missing for the database. Once found, it is no longer missing. */
void patch_note(const char *where, const char *name, bool found);

/* Writes the notes made so far: in each process that begins to record. */
void patch_report(void);
