/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor.h - times the fetching of tensors whose memory is passed by a descriptor. A process
 * that unpickles such a tensor gets the descriptor from the process that made it, where a thread
 * answers once it has the GIL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/sys.h"
#include "python/interpreter/api.h"

/* Patches the finished module of the standard library; called by audit.c. */
void descriptor_patch(PyObject *module, size_t row);

/* Fetching cannot be observed, as this Python has it under another name. */
extern HIDDEN bool descriptor_blind;
