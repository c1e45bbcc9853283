/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - tells a kernel's kind of work by its mangled name, and sends each name once. */
#pragma once

#include <stdint.h>

#include "dlprof/event.h"

struct kernel {
	uint64_t id;
	enum dlprof_gpu_kind kind;
};

struct kernel kernel_find(const char *name);
