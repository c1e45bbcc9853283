/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.h - the calls that a copied stack shows, named by the files they came from.
 *
 * libunwind reads the copy and the modules' files, never the process. Everything in the copy is
 * hostile input: a wrong address ends the walk.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dlprof/stack.h"
#include "drain/modules/module.h"

/*
 * One line a frame, innermost first, "name+0x1f libjpeg.so.62"; frames of libdlprof.so are left
 * out. Returns how many; 0 where nothing can be told: the process is gone, or built without
 * libunwind.
 */
int unwind_text(struct modules *modules, const struct dlprof_stack *stack, char *text, size_t size);
