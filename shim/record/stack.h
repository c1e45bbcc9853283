/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - copies the stack of a slow operation for the drain (dlprof/stack.h). */
#pragma once

#include <stdint.h>

#include "record/thread.h"

/* Keeps this thread's stack for the operation that began at `begin_ns`, whose record was pushed. */
void stack_keep(struct thread *thread, uint64_t begin_ns);
