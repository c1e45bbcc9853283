/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gluon.h - MXNet Gluon's DataLoader, with workers in a multiprocessing pool, which numbers its
 * jobs.
 */
#pragma once

#include <stddef.h>

#include "base/sys.h"
#include "python/loaders/follow.h"

extern HIDDEN const struct follow_crew gluon_crew;

void gluon_patch(PyObject *module, size_t row);
