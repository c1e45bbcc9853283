/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch.h - put C functions around methods of Python classes.
 *
 * A wrapper is a built-in function whose `self` is the original: no Python frame, so nothing of us
 * shows in tracebacks. A patch point that is not there is noted and left alone.
 */
#pragma once

#include "python/api.h"

/* ml_doc of a wrapper: gives it a signature, which built-in functions lack. */
#define PATCH_SIGNATURE(name) name "($self, /, *args, **kwargs)\n--\n\n"

/*
 * Replaces owner.NAME, NAME being method->ml_name, by a wrapper that gets the original as `self`.
 * `where` names the owner in the notes, "torch...:Class". True: patched.
 */
bool patch_method(PyObject *owner, const char *where, PyMethodDef *method);

/* The same, and notes nothing. */
bool patch_class(PyObject *owner, PyMethodDef *method);

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
