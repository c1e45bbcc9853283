/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrapper.h - callable objects that look like the Python function they stand for.
 *
 * Signature, attributes, binding and pickling are the original's. A wrapper has no Python frame.
 * Its type is no function's subclass: CPython and torch.compile read a function's memory.
 */
#pragma once

#include "python/interpreter/api.h"

/* The method's `self` is `original`, an attribute of `owner`. Returns NULL without an exception. */
PyObject *wrapper_make(PyObject *owner, PyMethodDef *method, PyObject *original);

bool wrapper_is(PyObject *object);

bool wrapper_calls(PyObject *object, const PyMethodDef *method);
