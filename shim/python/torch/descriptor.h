/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor.h - times the fetching of tensors whose memory is passed by a descriptor: whoever
 * unpickles such a tensor asks the process that made it, where a thread answers when it gets the
 * interpreter.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/sys.h"
#include "python/interpreter/api.h"

/* Patches the finished module of the standard library; called by audit.c. */
void descriptor_patch(PyObject *module, size_t row);

/* Fetching cannot be seen, since this Python does it under another name. */
extern HIDDEN bool descriptor_blind;
