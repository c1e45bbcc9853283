/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - tells what a kernel is by its name, and tells the drain the name.
 *
 * CUPTI gives mangled names. The drain gets each once, whole; after that its id stands for it. One
 * thread calls this.
 */
#pragma once

#include <stdint.h>

#include "dlprof/event.h"

struct kernel {
	uint64_t id;
	enum dlprof_gpu_kind kind; /* a collective, a GPU loader's, or DLPROF_GPU_KERNEL */
};

struct kernel kernel_find(const char *name);
