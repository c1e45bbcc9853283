/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.h - names the calls in a copied stack by the files they came from.
 *
 * libunwind reads the copy and the modules' files, never the process. The copy is hostile input: a
 * wrong address ends the walk.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dlprof/stack.h"
#include "drain/modules/module.h"

/*
 * Writes one line for each frame, innermost first, "name+0x1f libjpeg.so.62", without those of
 * libdlprof.so. Returns their number; 0: the process is gone, or this is built without libunwind.
 */
int unwind_text(struct modules *modules, const struct dlprof_stack *stack, char *text, size_t size);
