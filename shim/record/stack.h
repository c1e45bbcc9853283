/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - keep the stack under a slow operation for the drain; see dlprof/stack.h. */
#pragma once

#include <stdint.h>

#include "record/thread.h"

/* Of the operation that began at `begin_ns`, whose record has been pushed. */
void stack_keep(struct thread *thread, uint64_t begin_ns);
