/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrapper.h - callable objects that stand for a function of Python's, and look like it.
 *
 * A wrapper has the signature, name, module, documentation and all other attributes of its
 * original, becomes a bound method where its original would, and is pickled by its name.
 * Its calls go to C without a Python frame, so tracebacks do not show it. What tells it from a
 * function is its type, which is no subclass of a function's, since CPython and torch.compile read
 * a function's memory.
 */
#pragma once

#include "python/interpreter/api.h"

/*
 * Returns a wrapper whose calls go to method->ml_meth with `original` as `self`, which a class or
 * module has; NULL without an exception if it cannot be made. It holds the original, and Python's
 * collector sees that.
 */
PyObject *wrapper_make(PyObject *owner, PyMethodDef *method, PyObject *original);

bool wrapper_is(PyObject *object);

/* Returns true for a wrapper whose calls go to this method. */
bool wrapper_calls(PyObject *object, const PyMethodDef *method);
