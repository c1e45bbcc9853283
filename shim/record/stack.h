/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - copies the stack of a slow operation for the drain (dlprof/stack.h). */
#pragma once

#include <stdint.h>

#include "record/thread.h"

/* For the operation begun at `begin_ns`, whose record was just pushed. */
void stack_keep(struct thread *thread, uint64_t begin_ns);
