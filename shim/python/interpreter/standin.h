/* SPDX-License-Identifier: Apache-2.0 */
/* standin.h - objects that forward to an original all but a few methods of ours. */
#pragma once

#include "python/interpreter/api.h"

/*
 * Makes a class of stand-ins. They have `methods` (ended by NULL), and forward other methods that
 * the class of `like` has. Returns NULL on failure.
 */
PyObject *standin_class(const char *name, PyMethodDef *const *methods, PyObject *like);

PyObject *standin_make(PyObject *class, PyObject *object);

/* Returns the original of args[0]; NULL with an exception if it is no stand-in. */
PyObject *standin_original(PyObject *args);

/* Stores a value that no attribute of the object can hide. */
bool standin_keep(PyObject *standing, struct api_name *name, PyObject *value);
PyObject *standin_kept(PyObject *standing, struct api_name *name);
