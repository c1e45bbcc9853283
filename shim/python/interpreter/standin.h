/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin.h - an object that stands for another: it has methods of ours, and asks the other for all
 * else. No class of the user's is touched: it may be pickled by value.
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

/* The original for a call of one of the methods. NULL with an exception: no stand-in was called. */
PyObject *standin_original(PyObject *args);

/* A value that the stand-in itself keeps, whatever attributes others set on it. */
bool standin_keep(PyObject *standing, struct api_name *name, PyObject *value);
PyObject *standin_kept(PyObject *standing, struct api_name *name);
