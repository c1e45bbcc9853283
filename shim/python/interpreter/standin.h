/* SPDX-License-Identifier: Apache-2.0 */
/* standin.h - makes objects that pass everything on to an original, except a few methods. */
#pragma once

#include "python/interpreter/api.h"

/* ml_flags of a __getitem__(self, key) that a slot of the class calls, with no tuple or method */
#define STANDIN_ITEM 0

/*
 * Makes a class of stand-ins, which have `methods` (ended by NULL) and pass on the other methods of
 * the class of `like`. Returns NULL on failure.
 */
PyObject *standin_class(const char *name, PyMethodDef *const *methods, PyObject *like);

PyObject *standin_make(PyObject *class, PyObject *object);

/* Return the original of a stand-in, or of args[0]. NULL, with an exception: it is no stand-in. */
PyObject *standin_inside(PyObject *standing);
PyObject *standin_original(PyObject *args);

/* Stores a value of ours in a stand-in. No attribute of the original hides it. */
bool standin_keep(PyObject *standing, struct api_name *name, PyObject *value);
PyObject *standin_kept(PyObject *standing, struct api_name *name);
