/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_name.h - receives kernels' names in parts, and demangles them.
 *
 * The report demangles nothing: in a stranger's database, a name could expand without end.
 */
#pragma once

#include "dlprof/event.h"
#include "store/write/write.h"

/* Must be all zero at first. */
struct kernel_name {
	uint64_t id;
	uint32_t parts;
	char symbol[DLPROF_KERNEL_BYTES + 1];
};

/* Takes a part of a name. The last part writes the whole name. */
int kernel_name_take(struct writer *writer, struct kernel_name *name,
		     const struct dlprof_event *event);
