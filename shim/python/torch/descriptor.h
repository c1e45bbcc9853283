/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor.h - tensors whose memory is passed by a descriptor. Who unpickles one asks the process
 * that made it, where a thread answers as soon as it gets the interpreter.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/sys.h"
#include "python/interpreter/api.h"

/* Called by audit.c with the finished module of the standard library. */
void descriptor_patch(PyObject *module, size_t row);

/* Fetching cannot be seen, since this Python does it under another name. */
extern HIDDEN bool descriptor_blind;
