/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gluon.h - MXNet Gluon's DataLoader with workers, which are a multiprocessing pool of processes or
 * threads.
 *
 * The pool numbers its jobs. For each batch that was requested, an iterator holds the pool's result
 * object, which knows the job's number. The pool lives as long as its loader.
 */
#pragma once

#include <stddef.h>

#include "base/sys.h"
#include "python/loaders/follow.h"

extern HIDDEN const struct follow_crew gluon_crew;

/* Patches the finished module; called by audit.c. */
void gluon_patch(PyObject *module, size_t row);
