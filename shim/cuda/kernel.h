/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - finds out by a kernel's name what it does, and sends the name to the drain.
 *
 * CUPTI gives mangled names. The drain gets each name once; after that the kernel's id stands for
 * it. One thread calls this.
 */
#pragma once

#include <stdint.h>

#include "dlprof/event.h"

struct kernel {
	uint64_t id;
	enum dlprof_gpu_kind kind; /* DLPROF_GPU_KERNEL, a collective, or a GPU loader's */
};

struct kernel kernel_find(const char *name);
