/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor.h - tensors whose memory is named by a descriptor. Who unpickles one asks the process
 * that made it, which answers in a thread of its own as soon as its interpreter is free.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/sys.h"
#include "python/interpreter/api.h"

/* Called by audit.c with the finished module of the standard library. */
void descriptor_patch(PyObject *module, size_t row);

/* Nobody can be seen asking: this Python does it by another name. */
extern HIDDEN bool descriptor_blind;
