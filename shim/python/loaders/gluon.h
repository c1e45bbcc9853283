/* SPDX-License-Identifier: Apache-2.0 */
/* gluon.h - follows MXNet Gluon's DataLoader by the jobs of its workers, a multiprocessing pool. */
#pragma once

#include <stddef.h>

#include "base/sys.h"
#include "python/loaders/follow.h"

extern HIDDEN const struct follow_crew gluon_crew;

void gluon_patch(PyObject *module, size_t row);
