/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_name.h - the names of kernels, which come in parts and as C++ mangles them.
 *
 * They are made readable here and not in the report: that reads databases of strangers, and a
 * mangled name can be made to expand without end.
 */
#pragma once

#include "dlprof/event.h"
#include "store/write/write.h"

/* The one that is coming in. All zero at first. */
struct kernel_name {
	uint64_t id;
	uint32_t parts;
	char symbol[DLPROF_KERNEL_BYTES + 1];
};

/* A part of it; the last one writes it. 0 or -errno. */
int kernel_name_take(struct writer *writer, struct kernel_name *name,
		     const struct dlprof_event *event);
