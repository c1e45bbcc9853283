/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrapper.h - callable objects that look like the Python function they stand for.
 *
 * They have no Python frame. Their type is no function's subclass: CPython and torch.compile read a
 * function's memory.
 */
#pragma once

#include "python/interpreter/api.h"

/* Makes a callable: method->ml_meth with `original` as self. Returns NULL without an exception. */
PyObject *wrapper_make(PyObject *owner, PyMethodDef *method, PyObject *original);

bool wrapper_is(PyObject *object);

bool wrapper_calls(PyObject *object, const PyMethodDef *method);
