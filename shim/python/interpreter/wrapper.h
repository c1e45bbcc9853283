/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrapper.h - makes callable objects that look like the Python function for which they stand.
 *
 * Calls of them have no Python frame. They say that their class is that of functions, but it is not
 * derived from that, because CPython and torch.compile read the memory of a function.
 */
#pragma once

#include "python/interpreter/api.h"

/* A function that also gets its method, the member of a row of a table: see WRAPPER_ROW(). */
typedef PyObject *(*wrapper_of_row)(PyObject *original, PyObject *args, PyObject *kwargs,
				    const PyMethodDef *method);

#define WRAPPER_OF_ROW 0 /* ml_flags of a method whose function is a wrapper_of_row */

#define WRAPPER_METHOD(name, function)                                                             \
	{                                                                                          \
		name, (py_wrapper)(void (*)(void))(function), WRAPPER_OF_ROW, NULL                 \
	}

/* Returns the row of type `type` whose `member` is the method. */
#define WRAPPER_ROW(method, type, member)                                                          \
	((type *)(void *)((uintptr_t)(method) - offsetof(type, member)))

/* Makes an object that calls method->ml_meth with `original` as self. NULL: no exception is set. */
PyObject *wrapper_make(PyObject *owner, PyMethodDef *method, PyObject *original);

bool wrapper_is(PyObject *object);

bool wrapper_calls(PyObject *object, const PyMethodDef *method);
