/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_name.h - receives kernels' names, which are mangled C++ and come in parts.
 *
 * Names are demangled here, not in the report, which reads databases of strangers: a mangled name
 * can be made to expand without end.
 */
#pragma once

#include "dlprof/event.h"
#include "store/write/write.h"

/* A name whose parts are coming; all zero at first. */
struct kernel_name {
	uint64_t id;
	uint32_t parts;
	char symbol[DLPROF_KERNEL_BYTES + 1];
};

/* Takes a part of a name; the last part writes the name. Returns 0 or -errno. */
int kernel_name_take(struct writer *writer, struct kernel_name *name,
		     const struct dlprof_event *event);
