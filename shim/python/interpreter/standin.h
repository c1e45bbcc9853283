/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin.h - an object that stands for another: it has methods of ours, and forwards all else to
 * the other. No class of the user's is changed: it may be pickled by value.
 */
#pragma once

#include "python/interpreter/api.h"

/*
 * Makes type(name, (), {...}) with these methods, which end with NULL. It also forwards methods
 * that Python looks up on a class, if the class of `like` has them (NULL: none). Another `like` of
 * the same class gets the same result. NULL without an exception: it cannot be made.
 */
PyObject *standin_class(const char *name, PyMethodDef *const *methods, PyObject *like);

/* Makes a stand-in for `object`. */
PyObject *standin_make(PyObject *class, PyObject *object);

/* Returns the original for a call of a method; NULL with an exception: not on a stand-in. */
PyObject *standin_original(PyObject *args);

/* Stores a value in the stand-in, whatever attributes others set; standin_kept() returns it. */
bool standin_keep(PyObject *standing, struct api_name *name, PyObject *value);
PyObject *standin_kept(PyObject *standing, struct api_name *name);
