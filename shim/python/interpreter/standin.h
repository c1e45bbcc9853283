/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin.h - an object that stands for another one: it has some methods of ours, and forwards all
 * else. No class of the user is changed, since it may be pickled by value.
 */
#pragma once

#include "python/interpreter/api.h"

/*
 * Makes type(name, (), {...}) with these methods, which NULL ends. It also forwards those methods
 * that Python looks up on a class, if the class of `like` has them (NULL: none). For each class of
 * `like` there is one result. Returns NULL without an exception if it cannot be made.
 */
PyObject *standin_class(const char *name, PyMethodDef *const *methods, PyObject *like);

/* Makes a stand-in for `object`. */
PyObject *standin_make(PyObject *class, PyObject *object);

/* Returns the original of a method's stand-in, args[0]; NULL with an exception if that is none. */
PyObject *standin_original(PyObject *args);

/* Stores a value that no attribute of the object can hide; standin_kept() returns it. */
bool standin_keep(PyObject *standing, struct api_name *name, PyObject *value);
PyObject *standin_kept(PyObject *standing, struct api_name *name);
