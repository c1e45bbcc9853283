/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - tells by a kernel's name what kind of work it is, and sends the name to the drain.
 *
 * CUPTI gives mangled names. Each name is sent once; later records have the kernel's id instead.
 * Only one thread calls this.
 */
#pragma once

#include <stdint.h>

#include "dlprof/event.h"

struct kernel {
	uint64_t id;
	enum dlprof_gpu_kind kind; /* DLPROF_GPU_KERNEL, a collective, or a GPU loader's */
};

struct kernel kernel_find(const char *name);
