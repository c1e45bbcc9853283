/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrapper.h - makes callable objects that look like the Python function for which they stand.
 *
 * Calls of them have no Python frame. They say that their class is that of functions, but it is not
 * derived from that, because CPython and torch.compile read the memory of a function.
 */
#pragma once

#include "python/interpreter/api.h"

/* Makes an object that calls method->ml_meth with `original` as self. NULL: no exception is set. */
PyObject *wrapper_make(PyObject *owner, PyMethodDef *method, PyObject *original);

bool wrapper_is(PyObject *object);

bool wrapper_calls(PyObject *object, const PyMethodDef *method);
