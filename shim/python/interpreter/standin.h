/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin.h - an object that stands for another: it has methods of ours, and for all else it asks
 * the other. No class of the user's is touched: it may be pickled by value.
 */
#pragma once

#include "python/interpreter/api.h"

/*
 * type(name, (), {...}) with these methods, which end with NULL. It also forwards what Python asks
 * a class for, and not its object, if the class of `like` has it; NULL: nothing. Another `like` of
 * the same class gets the same. NULL without an exception: it cannot be made.
 */
PyObject *standin_class(const char *name, PyMethodDef *const *methods, PyObject *like);

/* What stands for `object`. */
PyObject *standin_make(PyObject *class, PyObject *object);

/* Of a call of one of the methods: the object. NULL with an exception: none of ours was called. */
PyObject *standin_original(PyObject *args);

/* A value that the stand-in itself keeps, whatever attributes are set on it by others. */
bool standin_keep(PyObject *standing, struct api_name *name, PyObject *value);
PyObject *standin_kept(PyObject *standing, struct api_name *name);
