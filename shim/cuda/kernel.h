/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - knows by its mangled name what a kernel does, and sends the drain each name once. */
#pragma once

#include <stdint.h>

#include "dlprof/event.h"

struct kernel {
	uint64_t id;
	enum dlprof_gpu_kind kind;
};

struct kernel kernel_find(const char *name);
